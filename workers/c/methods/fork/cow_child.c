#include "fork.h"

__attribute__((noreturn)) static void child_writes(struct slot *s, const struct parent *parent)
{
    char mark = (char)(parent->mark + 1);
    copy_enter();
    fact(s, "child_table_bytes", page_table_bytes(s));
    uint64_t shared = resident_in(s, parent->p, parent->bytes).pss_bytes;
    s->ops = parent->bytes / parent->stride;
    PHASE(s, "write") { write_each(parent, mark); }
    fact(s, "written", s->ops);
    fact(s, "copied_bytes", 2 * (resident_in(s, parent->p, parent->bytes).pss_bytes - shared));
    fact(s, "child_wrong_pages", wrong_pages(s, parent, mark));
    copy_leave();
}

static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    pid_t child;
    copy_open(s);
    PHASE(s, "start") {
        child = fork();
        if (child == 0)
            child_writes(s, &parent);
    }
    check_child(s, child, "fork");
    copy_close(s, child);
    parent_end(s, &parent, parent.mark);
}

METHOD(fork_cow_child, .experiment = "fork", .name = "cow-child", .group = COPY_GROUP,
       .summary = "fork(), then the child writes one byte a page: each write copies a page, and the parent's stays.",
       .phases = "start write", .keys = COPY_KEYS, .memory = "2 * bytes",
       .laws = COPY_LAWS "; write.minor_faults >= written; write.minor_faults <= written + 4; child_wrong_pages == 0",
       .calls = "start:clone", .run = run);
