#include "lines.h"

/* Both sides do the same; their counters lie `apart` bytes from each other. */
static SHARED_BODY void run(struct slot *s, size_t apart)
{
    struct lines l = lines_begin(s, apart);
    uint64_t *mine = l.mine;
    uint64_t ops = s->ops;
    bool plain = key_is(s, "stores", "plain");
    PHASE(s, "stores") {
        ADD_ALL(mine, ops, plain);
    }
    lines_end(s, &l);
}

static void one_line(struct slot *s) { run(s, 8); }
METHOD(false_sharing_one_line, .experiment = "false-sharing", .name = "one-line",
       .summary = "Two processes each add to a counter of its own, and both counters lie in one cache line.",
       .phases = "stores", .keys = LINES_KEYS, .memory = "4096", .laws = LINES_LAWS, .calls = "",
       .run = one_line, .run_b = one_line);

static void adjacent_lines(struct slot *s) { run(s, 64); }
METHOD(false_sharing_adjacent_lines, .experiment = "false-sharing", .name = "adjacent-lines",
       .summary = "Two processes each add to a counter of its own, 64 bytes apart: two lines, one pair that is prefetched together.",
       .phases = "stores", .keys = LINES_KEYS, .memory = "4096", .laws = LINES_LAWS, .calls = "",
       .run = adjacent_lines, .run_b = adjacent_lines);

static void two_lines(struct slot *s) { run(s, 256); }
METHOD(false_sharing_two_lines, .experiment = "false-sharing", .name = "two-lines",
       .summary = "Two processes each add to a counter of its own, 256 bytes apart: what the work costs when nothing is shared.",
       .phases = "stores", .keys = LINES_KEYS, .memory = "4096", .laws = LINES_LAWS, .calls = "",
       .run = two_lines, .run_b = two_lines);
