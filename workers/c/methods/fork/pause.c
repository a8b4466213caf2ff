#include "fork.h"
#include "latency.h"

/* One clock read a write; the first of the times is that of fork() itself. */
static void run(struct slot *s)
{
    struct parent parent = parent_begin(s);
    char mark = (char)(parent.mark + 1);
    size_t bytes = parent.bytes, stride = parent.stride, count = bytes / stride + 1, room = count * sizeof(uint64_t);
    volatile char *p = parent.p;
    /* Shared, so that the times themselves are not copied on write. */
    uint64_t *ns = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, ns);
    struct live live;
    live_open(s, &live);
    s->ops = count;
    PHASE(s, "timed-write") {
        uint64_t before = now_ns(), after;
        live.pid = fork();
        if (live.pid == 0)
            live_child(s, &parent, &live);
        *ns = (after = now_ns()) - before;
        for (size_t i = 0, n = 1; i < bytes; i += stride, n++) {
            before = after;
            p[i] = mark;
            ns[n] = (after = now_ns()) - before;
        }
    }
    check_child(s, live.pid, "fork");
    uint64_t longest = 0;
    for (size_t n = 1; n < count; n++)
        longest = ns[n] > longest ? ns[n] : longest;
    fact(s, "fork_ns", *ns);
    fact(s, "longest_write_ns", longest);
    fact(s, "written", count - 1);
    latency_record(s, ns, count);
    live_ready(s, &live);
    live_check(s, &live);
    close(live.ours);
    copy_close(s, live.pid);
    parent_end(s, &parent, mark);
    munmap(ns, room);
}

METHOD(fork_pause, .experiment = "fork", .name = "pause", .group = COPY_GROUP,
       .summary = "A parent that writes all the time forks a child: the longest of its pauses, fork() among them.",
       .phases = "timed-write", .keys = COPY_KEYS, .memory = "2 * bytes + 8 * (bytes / page_bytes)",
       .laws = TABLE_LAWS "; timed-write.minor_faults >= written; child_wrong_pages == 0; fork_ns <= timed-write.wall_ns",
       .calls = "timed-write:clone", .run = run);
