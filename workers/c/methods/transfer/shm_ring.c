#include "ring.h"
#include "streaming.h"
#include "transfer.h"

#define RING_KEYS TRANSFER_KEYS PAGES_KEY " chunk:size ring_chunks:count"
#define RING_MEMORY "2 * bytes + chunk * ring_chunks"
/* Only a side that has waited long enters the kernel. */
#define RING_CALLS "send:sched_yield?,poll? receive:sched_yield?,poll?"

typedef void copy_chunk(char *to, const char *from, size_t bytes);

static SHARED_BODY void run(struct slot *s, copy_chunk *copy)
{
    size_t bytes = s->bytes, chunk = key_size(s, "chunk"), done = 0;
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    char *p = transfer_source(s);
    meet(s);
    PHASE(s, "send") {
        for (uint64_t n = 0; done < bytes; n++) {
            size_t part = bytes - done < chunk ? bytes - done : chunk;
            copy(ring_free(s, &r, n, done), p + done, part);
            ring_written(&r, n);
            done += part;
        }
    }
    transfer_sent(s, p, 0, r.memory_bytes);
}

static SHARED_BODY void run_b(struct slot *s, copy_chunk *copy)
{
    size_t bytes = s->bytes, chunk = key_size(s, "chunk"), done = 0;
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    char *p = transfer_target(s);
    meet(s);
    PHASE(s, "receive") {
        for (uint64_t n = 0; done < bytes; n++) {
            size_t part = bytes - done < chunk ? bytes - done : chunk;
            copy(p + done, ring_ready(s, &r, n, done), part);
            ring_taken(&r, n);
            done += part;
        }
    }
    transfer_received(s, p, 0, 0);
}

static void by_memcpy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

/* Without them shm-ring-streaming would be shm-ring-cached under another name. */
static void must_stream(struct slot *s)
{
    agree(s, can_stream() ? NULL : "streaming stores are written for x86-64 with AVX and for aarch64; this processor is neither");
}

static void cached(struct slot *s) { run(s, by_memcpy); }
static void cached_b(struct slot *s) { run_b(s, by_memcpy); }

/* b's own copy is larger than the caches and not looked at yet: storing past them leaves them to the ring. */
static void streamed_out(struct slot *s)
{
    fact(s, "streams", can_stream());
    run_b(s, stream_copy);
}

METHOD(transfer_shm_ring, .experiment = "transfer", .name = "shm-ring",
       .summary = "A ring of a few chunks in shared memory, small enough for the caches: a copies in by memcpy while b copies out by streaming stores (by memcpy where the processor has none; the fact `streams` tells).",
       .phases = TRANSFER_PHASES, .keys = RING_KEYS, .memory = RING_MEMORY, .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = RING_CALLS, .run = cached, .run_b = streamed_out);

METHOD(transfer_shm_ring_cached, .experiment = "transfer", .name = "shm-ring-cached",
       .summary = "The same ring by memcpy: a small ring stays in the caches, and every line goes from one side's cache to the other's.",
       .phases = TRANSFER_PHASES, .keys = RING_KEYS, .memory = RING_MEMORY, .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = RING_CALLS, .run = cached, .run_b = cached_b);

static void streamed(struct slot *s)
{
    must_stream(s);
    run(s, stream_copy);
}

static void streamed_b(struct slot *s)
{
    must_stream(s);
    run_b(s, stream_copy);
}

METHOD(transfer_shm_ring_streaming, .experiment = "transfer", .name = "shm-ring-streaming",
       .summary = "The same ring by streaming stores on both sides: no line is fetched dirty from the other's cache, but the ring goes through memory.",
       .phases = TRANSFER_PHASES, .keys = RING_KEYS, .memory = RING_MEMORY, .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = RING_CALLS, .run = streamed, .run_b = streamed_b);
