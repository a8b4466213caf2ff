#include "fork.h"

static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    char mark = (char)(parent.mark + 1);
    struct live live;
    live_open(s, &live);
    PHASE(s, "start") {
        live.pid = fork();
        if (live.pid == 0)
            live_child(s, &parent, &live);
    }
    check_child(s, live.pid, "fork");
    live_ready(s, &live);
    uint64_t shared = resident_in(s, parent.p, parent.bytes).pss_bytes;
    s->ops = parent.bytes / parent.stride;
    PHASE(s, "write") { write_each(&parent, mark); }
    fact(s, "written", s->ops);
    fact(s, "copied_bytes", 2 * (resident_in(s, parent.p, parent.bytes).pss_bytes - shared));
    live_check(s, &live);
    s->ops = 1;
    int left;
    PHASE(s, "reap") {
        left = close(live.ours);
        left |= waitpid(live.pid, NULL, 0) != live.pid;
    }
    check_done(s, left, "close, waitpid");
    copy_close(s, 0);
    parent_end(s, &parent, mark);
}

METHOD(fork_cow_parent, .experiment = "fork", .name = "cow-parent", .group = COPY_GROUP,
       .summary = "fork(), then the parent writes one byte a page while its child lives: each write copies a page.",
       .phases = "start write reap", .keys = COPY_KEYS, .memory = "2 * bytes",
       .laws = COPY_LAWS "; write.minor_faults >= written; write.minor_faults <= written + 4; child_wrong_pages == 0",
       .calls = "start:clone reap:close,wait4", .run = run);
