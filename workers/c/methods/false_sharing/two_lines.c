#include "lines.h"

static void run(struct slot *s)
{
    struct lines l = lines_begin(s, 256);
    uint64_t *mine = l.mine;
    uint64_t ops = s->ops;
    bool plain = key_is(s, "stores", "plain");
    PHASE(s, "stores") {
        ADD_ALL(mine, ops, plain);
    }
    lines_end(s, &l);
}

METHOD(false_sharing_two_lines, .experiment = "false-sharing", .name = "two-lines",
       .summary = "Two processes each add to a counter of its own, 256 bytes apart: what the work costs when nothing is shared.",
       .phases = "stores", .keys = LINES_KEYS, .memory = "4096", .laws = LINES_LAWS, .calls = "", .run = run, .run_b = run);
