#include "unmap.h"
#include <sys/socket.h>
#include <sys/wait.h>

/* A process of its own with the memory and the threads; it ends when it is told to. */
__attribute__((noreturn)) static void live_and_end(struct slot *s, int told)
{
    struct range r;
    uint64_t touched;
    char word;
    copy_enter();
    r = unmap_begin(s, true);
    touched = resident_in(s, r.p, r.bytes).rss_bytes;
    others_start(r.others);
    if (write(told, &touched, sizeof touched) != sizeof touched)
        fail(s, "write");
    if (read(told, &word, 1) != 1)
        fail(s, "read");
    copy_leave();
}

static void run(struct slot *s)
{
    int ends[2], status = -1;
    bool told = false;
    uint64_t touched = 0;
    pid_t child, ended = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        fail(s, "socketpair");
    copy_open(s);
    if ((child = fork()) == 0) {
        close(ends[0]);
        live_and_end(s, ends[1]);
    }
    if (child < 0)
        fail(s, "fork");
    close(ends[1]);
    if (read(ends[0], &touched, sizeof touched) != sizeof touched) {
        int error = errno;
        (void)!write(ends[0], "e", 1); /* it ends, if it is there */
        copy_close(s, child); /* it says why, where it knows, and does not return then */
        errno = error;
        fail(s, "read");
    }
    s->ops = 1;
    PHASE(s, "take-away") {
        told = write(ends[0], "e", 1) == 1;
        ended = told ? waitpid(child, &status, 0) : -1;
    }
    if (!told && errno == EPIPE)
        copy_close(s, child); /* it ended early, and says why */
    close(ends[0]);
    check_done(s, !told, "write");
    check_done(s, ended != child, "waitpid");
    copy_close(s, 0);
    fact(s, "told_bytes", touched);
    fact(s, "exit_status", WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 256);
}

METHOD(unmap_exit, .experiment = "unmap", .name = "exit", .group = "exit",
       .summary = "A process with as much memory and as many running threads ends, and is waited for: one call takes all away.",
       .phases = "take-away", .keys = "bytes:size running:count", .memory = "bytes",
       .laws = "touched_bytes == bytes; told_bytes == bytes; exit_status == 0", .calls = "take-away:write,wait4", .run = run);
