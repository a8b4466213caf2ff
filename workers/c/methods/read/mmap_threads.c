#include "threads.h"
#include <stdatomic.h>

static struct input in;
static struct thread_sink sinks[MOST_THREADS];
static atomic_uint numbers;

static void use_part(const struct part *part)
{
    consume(&sinks[atomic_fetch_add(&numbers, 1)].sink, part->start, part->bytes);
}

static void run(struct slot *s)
{
    threads_check(s);
    char *at = map_begin(s, &in), *p = MAP_FAILED;
    const char *path = in.path;
    size_t bytes = in.bytes;
    int fd = -1;
    for (unsigned i = 0; i < s->threads; i++)
        sinks[i] = (struct thread_sink){.sink.kind = in.sink.kind};
    numbers = 0;
    PHASE(s, "open") {
        fd = open(path, O_RDONLY | O_CLOEXEC);
        p = mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
    }
    map_check(s, &in, fd, p, 0);
    PARALLEL_PHASE(s, "read") { on_every_thread(s, use_part, p, bytes, 0); }
    threads_add_up(&in, sinks, s->threads);
    map_proofs(s, &in, p);
    int left;
    PHASE(s, "close") {
        left = munmap(p, bytes);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
    fact(s, "threads_used", numbers);
    read_end(s, &in, 0);
}

METHOD(read_mmap_threads, .experiment = "read", .name = "mmap-threads",
       .summary = "Map the file and have several threads go through it, each over its own contiguous part.",
       .phases = READ_PHASES, .keys = THREADS_KEYS, .memory = "bytes / 1024",
       .laws = MAP_LAWS "; " PLAIN_LAWS "; threads_used == threads; delivered_bytes == bytes" "; " THREADS_LAWS,
       .calls = "open:openat,mmap close:munmap,close", .run = run);
