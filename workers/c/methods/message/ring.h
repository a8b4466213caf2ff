/* Rings in shared memory: two slots each way, each a payload and behind it its turn, on cache lines of their own. With one
 * message under way, the answer to a message says that its slot is free again. Who waits reads the turn, so it stands in the
 * line that is written last: before the payload it would share a line with the payload's start, and that line would be taken
 * away from the sender in the middle of its writing. Java's spin ring has the same layout. */
#ifndef PAGEWISE_MESSAGE_RING_H
#define PAGEWISE_MESSAGE_RING_H
#include "streams.h"

enum { RING_SLOTS = 2, RING_ALIGN = 128, RING_TURN_BYTES = 8 };

/* Where the turn stands in a slot. */
static inline size_t ring_turn_at(size_t bytes)
{
    return (bytes + RING_TURN_BYTES - 1) / RING_TURN_BYTES * RING_TURN_BYTES;
}

static inline size_t ring_slot_bytes(size_t bytes)
{
    return (ring_turn_at(bytes) + RING_TURN_BYTES + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

/* Both ways, in whole pages. */
static inline size_t ring_bytes(const struct slot *s)
{
    size_t both = 2 * RING_SLOTS * ring_slot_bytes(s->bytes);
    return (both + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
}

/* Side a sends by the first half and side b by the second. */
static inline void ring_ends(const struct slot *s, struct link *l, char *memory)
{
    char *second = memory + RING_SLOTS * ring_slot_bytes(l->bytes);
    l->ring_out = s->role == 'a' ? memory : second;
    l->ring_in = s->role == 'a' ? second : memory;
}

static inline char *ring_slot(char *ring, uint64_t turn, size_t bytes)
{
    return ring + turn % RING_SLOTS * ring_slot_bytes(bytes);
}
#endif
