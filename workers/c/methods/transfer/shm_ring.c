#include "ring_copy.h"
#include "streaming.h"

static void run(struct slot *s)
{
    ring_send(s, stream_copy);
}

static void run_b(struct slot *s)
{
    fact(s, "streams", can_stream());
    ring_receive(s, stream_copy);
}

METHOD(transfer_shm_ring, .experiment = "transfer", .name = "shm-ring",
       .summary = "A ring of a few chunks in shared memory: a copies in while b copies out, both by streaming stores, so that no line is fetched dirty from the other's cache.",
       .phases = TRANSFER_PHASES, .keys = RING_KEYS, .memory = RING_MEMORY, .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = RING_CALLS, .run = run, .run_b = run_b);
