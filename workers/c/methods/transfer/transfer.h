/* What the `transfer` methods share: side a's filled block, side b's resident one, and the proofs after the copy: b's block
 * holds the pattern, a's still does, and what a writes later is not seen by b. */
#ifndef PAGEWISE_TRANSFER_H
#define PAGEWISE_TRANSFER_H
#include "block.h"

#define TRANSFER_PHASES "send receive read-through"
/* `b` has its own copy; neither side's memory was missing while the clock ran. */
#define PRIVATE_LAWS "wrong_at == bytes; source_wrong_at == bytes; sees_later_change == 0"
#define RESIDENT_LAWS "; send.minor_faults == 0; receive.minor_faults == 0"

/* How many bytes moved, by how many calls. Where bytes are missing, errno says why. */
struct moved {
    size_t bytes;
    uint64_t calls;
};
/* Fails with the offset where not all bytes moved. */
void transfer_check(struct slot *s, const char *call, struct moved moved);

char *transfer_source(struct slot *s);
char *transfer_target(struct slot *s);
/* After a side's phase: proofs, `read-through` on side b, memory. `channel_bytes` is what this side knows of the memory
 * between the two blocks; `memory_bytes` is that and both resident blocks, shared pages counted once. Frees the block. */
void transfer_sent(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes);
void transfer_received(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes);
#endif
