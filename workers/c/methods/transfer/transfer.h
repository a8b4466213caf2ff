/* What the `transfer` methods share: side a's filled block, side b's resident one, and the proofs after the copy: b's block
 * holds the pattern, a's still does, and what a writes later is not seen by b. */
#ifndef PAGEWISE_TRANSFER_H
#define PAGEWISE_TRANSFER_H
#include "block.h"
#include "pin.h"

#define TRANSFER_PHASES "send receive read-through"
#define TRANSFER_KEYS "bytes:size " PIN_KEY
/* `b` has its own copy; the sides ran where they were to run. */
#define PRIVATE_LAWS "wrong_at == bytes; source_wrong_at == bytes; sees_later_change == 0; " PIN_LAWS
/* Neither side's memory was missing while the clock ran, and it was in the pages that were asked for. */
#define RESIDENT_LAWS                                                                                                  \
    "; send.minor_faults == 0; receive.minor_faults == 0; pages=base: huge_bytes + b.huge_bytes == 0; "                \
    "pages=huge: huge_bytes >= bytes / huge_page_bytes * huge_page_bytes; "                                            \
    "pages=huge: b.huge_bytes >= bytes / huge_page_bytes * huge_page_bytes"

/* How many bytes moved, by how many calls. Where bytes are missing, errno says why. */
struct moved {
    size_t bytes;
    uint64_t calls;
};
/* Fails with the offset where not all bytes moved. */
void transfer_check(struct slot *s, const char *call, struct moved moved);

/* The sides' blocks. Where `pages` cannot be had the side skips the cell, so both must call it at the same place among what
 * they tell each other. */
char *transfer_source(struct slot *s);
char *transfer_target(struct slot *s);
/* After a side's phase: proofs, `read-through` on side b, memory. `channel_bytes` is what this side knows of the memory
 * between the two blocks; `memory_bytes` is that and both resident blocks, shared pages counted once. Frees the block. */
void transfer_sent(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes);
/* The same for a block whose pages were given away. */
void transfer_given(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes);
void transfer_received(struct slot *s, char *p, uint64_t calls, uint64_t channel_bytes);
#endif
