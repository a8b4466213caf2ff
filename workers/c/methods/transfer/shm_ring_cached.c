#include "ring_copy.h"

static void copy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void run(struct slot *s)
{
    ring_send(s, copy);
}

static void run_b(struct slot *s)
{
    ring_receive(s, copy);
}

METHOD(transfer_shm_ring_cached, .experiment = "transfer", .name = "shm-ring-cached",
       .summary = "The same ring by memcpy: a small ring stays in the caches, and every line goes from one side's cache to the other's.",
       .phases = TRANSFER_PHASES, .keys = RING_KEYS, .memory = RING_MEMORY, .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = RING_CALLS, .run = run, .run_b = run_b);
