#include "ring_copy.h"
#include "streaming.h"

/* Without them it would be shm-ring-cached under another name. */
static void must_stream(struct slot *s)
{
    agree(s, can_stream() ? NULL : "streaming stores are written for x86-64 with AVX and for aarch64; this processor is neither");
}

static void run(struct slot *s)
{
    must_stream(s);
    ring_send(s, stream_copy);
}

static void run_b(struct slot *s)
{
    must_stream(s);
    ring_receive(s, stream_copy);
}

METHOD(transfer_shm_ring_streaming, .experiment = "transfer", .name = "shm-ring-streaming",
       .summary = "The same ring by streaming stores on both sides: no line is fetched dirty from the other's cache, but the ring goes through memory.",
       .phases = TRANSFER_PHASES, .keys = RING_KEYS, .memory = RING_MEMORY, .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = RING_CALLS, .run = run, .run_b = run_b);
