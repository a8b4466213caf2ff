#include "restore.h"
#include <sys/wait.h>

__attribute__((noreturn)) static void live(struct slot *s, struct guest *g)
{
    copy_enter();
    guest_work(s, g);
    guest_rest(s, g);
    PHASE(s, "end") { guest_unmap(g); }
    guest_check(s, g);
    copy_leave();
}

static void run(struct slot *s)
{
    if (key_size(s, "clones") > 1)
        skip(s, "the clones of one process are forked one by one: clones=1");
    struct guest g = guest_begin(s, NO_FILE);
    pid_t child = -1;
    guest_map(&g, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    guest_check(s, &g);
    pattern_fill(g.p, g.bytes, s->seed);
    copy_open(s);
    PHASE(s, "map") {
        child = fork();
        if (child == 0)
            live(s, &g);
    }
    if (child < 0)
        fail(s, "fork");
    copy_close(s, child);
    guest_unmap(&g);
    guest_end(s, &g);
}

METHOD(restore_fork_clone, .experiment = "restore", .name = "fork-clone",
       .summary = "fork() of a process that has it all in memory: the child is the guest.",
       .phases = RESTORE_PHASES, .keys = RESTORE_KEYS, .memory = "2 * bytes",
       .laws = RESTORE_LAWS,
       .calls = "map:clone end:munmap", .run = run);
