#include "lines.h"

static void run(struct slot *s)
{
    struct lines l = lines_begin(s, 8);
    uint64_t *mine = l.mine;
    uint64_t ops = s->ops;
    bool plain = key_is(s, "stores", "plain");
    PHASE(s, "stores") {
        ADD_ALL(mine, ops, plain);
    }
    lines_end(s, &l);
}

METHOD(false_sharing_one_line, .experiment = "false-sharing", .name = "one-line",
       .summary = "Two processes each add to a counter of its own, and both counters lie in one cache line.",
       .phases = "stores", .keys = LINES_KEYS, .memory = "4096", .laws = LINES_LAWS, .calls = "", .run = run, .run_b = run);
