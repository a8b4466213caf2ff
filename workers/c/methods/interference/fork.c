#include "interference.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* The child, a snapshot of the parent as a database saves one, looks at its memory when the parent has written to all of it. */
__attribute__((noreturn)) static void hold_snapshot(const char *p, size_t bytes, size_t page, uint64_t sum, int parent)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(parent, &byte, 1) < 0)
        _exit(2);
    for (size_t at = 0; at < bytes; at += page)
        sum -= *(const uint64_t *)(p + at);
    _exit(sum != 0);
}

/* One snapshot: fork(2), a write to each of the first pages, and the child's end. */
static void snapshot(struct scan *w, char *p, size_t held, size_t bytes, uint64_t *number)
{
    uint64_t before = 0;
    int ends[2], status = 0;
    for (size_t at = 0; at < held; at += w->page)
        before += *(uint64_t *)(p + at);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        scan_lost(w, "pipe2");
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        hold_snapshot(p, held, w->page, before, ends[0]);
    }
    close(ends[0]);
    for (size_t at = 0; at < bytes && child > 0; at += w->page) {
        *(uint64_t *)(p + at) = *number;
        w->sum += (*number)++;
    }
    close(ends[1]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    errno = EIO;
    if (child < 0 || status != 0)
        scan_lost(w, "fork");
    w->moved += bytes;
}

static void run(struct slot *s)
{
    size_t held = key_size(s, "hot") * 5 / 8;
    uint64_t number = 0;
    char *p = mmap(NULL, held, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p);
    check_done(s, madvise(p, held, MADV_DONTFORK), "madvise"); /* The victim is no snapshot. */
    struct scan w = scan_begin(s, 0);
    if (madvise(p, held, MADV_DOFORK) != 0)
        scan_lost(&w, "madvise");
    PHASE(s, "work") {
        for (size_t from = 0; from < w.bytes && !w.failed; from += held)
            snapshot(&w, p, held, from + held < w.bytes ? held : w.bytes - from, &number);
    }
    munmap(p, held);
    scan_end(s, &w);
}

METHOD(interference_fork, .experiment = "interference", .name = "fork",
       .summary = "fork(2) of a process that then writes to all of its memory, five eighths of the hot set, while the child keeps it.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("memory"),
       .memory = INTERFERENCE_MEMORY " + " MEMORY_AT_A_TIME, .laws = WORK_LAWS "; work.minor_faults >= bytes / 2097152",
       .calls = "work:pipe2,clone,close,wait4", .run = run);
