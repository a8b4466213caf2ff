#include "reset.h"
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

struct server {
    pid_t child;
    int ends[2], status;
};

/* The child uses its copy and ends, which is its reset. In warm cycles it also says how many pages it has dirty then. */
__attribute__((noreturn)) static void live(struct region *r, const struct server *server)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    region_use(r);
    if (!r->timed) {
        size_t used = region_used(r);
        if (write(server->ends[1], &used, sizeof used) != sizeof used)
            _exit(1);
    }
    _exit(42);
}

static void use(struct region *r)
{
    struct server *server = r->own;
    server->child = fork();
    if (server->child == 0)
        live(r, server);
    if (server->child < 0)
        region_lost(r, "fork");
}

static void reset(struct region *r)
{
    struct server *server = r->own;
    pid_t ended = -1;
    if (server->child > 0)
        while ((ended = waitpid(server->child, &server->status, 0)) < 0 && errno == EINTR)
            continue;
    if (ended < 0)
        region_lost(r, "waitpid");
    errno = EIO;
    if (!r->timed && ended > 0 &&
        (server->status != 42 << 8 || read(server->ends[0], &r->used, sizeof r->used) != sizeof r->used))
        region_lost(r, "read or write of what the child says");
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    struct server server = {0};
    if (pipe2(server.ends, O_CLOEXEC) != 0)
        fail(s, "pipe2");
    r.own = &server;
    reset_cycles_by(s, &r, use, reset);
    fact(s, "exit_status", WIFEXITED(server.status) ? (uint64_t)WEXITSTATUS(server.status) : 256);
    close(server.ends[0]);
    close(server.ends[1]);
    region_end(&r);
}

METHOD(reset_fork_server, .experiment = "reset", .name = "fork-server", .group = "fork-server",
       .summary = "fork(): a child uses its copy and ends, and is waited for; the image itself is never written to.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "3 * bytes",
       .laws = RESET_LAWS "; image=pattern & pages=huge: huge_bytes == bytes; exit_status == 42; restored_bytes == 0", .calls = "use:clone reset:wait4", .run = run);
