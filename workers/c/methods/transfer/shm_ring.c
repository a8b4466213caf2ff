#include "ring_copy.h"
#include "streaming.h"

static void copy_in(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void run(struct slot *s)
{
    ring_send(s, copy_in);
}

/* b's own copy is larger than the caches and not looked at yet: storing past them leaves them to the ring. */
static void run_b(struct slot *s)
{
    fact(s, "streams", can_stream());
    ring_receive(s, stream_copy);
}

METHOD(transfer_shm_ring, .experiment = "transfer", .name = "shm-ring",
       .summary = "A ring of a few chunks in shared memory, small enough for the caches: a copies in by memcpy while b copies out by streaming stores (by memcpy where the processor has none; the fact `streams` tells).",
       .phases = TRANSFER_PHASES, .keys = RING_KEYS, .memory = RING_MEMORY, .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = RING_CALLS, .run = run, .run_b = run_b);
