#include "threads.h"
#include <stdatomic.h>

static struct input in;
static struct thread_sink sinks[MOST_THREADS];
static atomic_uint numbers;
static int descriptor;

/* `part` is a range of the file; its start is an offset. */
static void read_part(const struct part *part)
{
    unsigned number = atomic_fetch_add(&numbers, 1);
    struct thread_sink *mine = &sinks[number];
    size_t chunk = in.step_bytes, offset = (uintptr_t)part->start, end = offset + part->bytes;
    char *buffer = in.buffer + number * chunk;
    struct input own = {.error = 0};
    for (; offset < end && !own.error; offset += chunk) {
        size_t want = end - offset < chunk ? end - offset : chunk, have = 0;
        READ_STEP(&own, want, have, pread(descriptor, buffer + have, want - have, (off_t)(offset + have)));
        consume(&mine->sink, buffer, have);
    }
    mine->error = own.error;
    if (end == in.bytes && part->bytes) {
        in.sink.last = mine->sink.last;
        in.sink.last_bytes = mine->sink.last_bytes;
    }
}

static void run(struct slot *s)
{
    threads_check(s);
    read_begin(s, &in, key_size(s, "chunk"), s->threads);
    const char *path = in.path;
    for (unsigned i = 0; i < s->threads; i++)
        sinks[i] = (struct thread_sink){.sink.kind = in.sink.kind};
    numbers = 0;
    PHASE(s, "open") { descriptor = open(path, O_RDONLY | O_CLOEXEC); }
    check_open(s, descriptor, "open");
    PARALLEL_PHASE(s, "read") { on_every_thread(s, read_part, NULL, in.bytes, 0); }
    threads_add_up(&in, sinks, s->threads);
    check_pass(s, &in, "pread");
    int left;
    PHASE(s, "close") { left = close(descriptor); }
    check_done(s, left, "close");
    fact(s, "threads_used", numbers);
    read_end(s, &in, 0);
}

METHOD(read_pread_threads, .experiment = "read", .name = "pread-threads",
       .summary = "pread(2) by several threads, each over its own contiguous part and with its own buffer of `chunk` bytes.",
       .phases = READ_PHASES, .keys = THREADS_KEYS " chunk:size", .memory = "threads * chunk + bytes / 1024",
       .laws = CALL_LAWS "; threads_used == threads; delivered_bytes == bytes"
               "; " THREADS_LAWS, .calls = "open:openat read:pread64 close:close",
       .run = run);
