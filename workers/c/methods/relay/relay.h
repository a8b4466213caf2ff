/* What the `relay` methods share: side a's file in the asked-for cache state, side b's resident block, the proofs. */
#ifndef PAGEWISE_RELAY_H
#define PAGEWISE_RELAY_H
#include "../transfer/streams.h"

#define RELAY_PHASES "send receive"
#define RELAY_KEYS "bytes:size cache:hot|cold place:disk|tmpfs"
/* The file was in the page cache wholly or not at all, as the cell says; b's block was resident and is now the file's copy. */
#define CACHE_LAWS                                                                                                     \
    "cache=cold: cached_pages_before == 0; cache=hot: cached_pages_before == (bytes + page_bytes - 1) / page_bytes"
#define RELAY_LAWS "wrong_at == bytes; receive.minor_faults == 0; " CACHE_LAWS

/* Side a: a file without a name that holds the pattern, made once a launch for each size. Both sides skip the cell where
 * there can be none, or where side a has another obstacle. */
int relay_file(struct slot *s, const char *obstacle);
/* Side a, last before its phase: puts the file into the asked-for cache state, proves it by `cached_pages_before`, meets b. */
void relay_ready(struct slot *s, int file);
/* Side b: answers relay_file() and gives the block. Meets a with meet() when its channel is open. */
char *relay_target(struct slot *s);
void relay_sent(struct slot *s, uint64_t calls);
void relay_received(struct slot *s, char *p, uint64_t calls);
/* Side a, where nobody holds a copy: proves the file itself. */
void relay_prove_file(struct slot *s, int file);

static inline struct moved splice_file(int file, int into, size_t bytes, size_t chunk)
{
    loff_t offset = 0;
    EACH_PIECE(splice(file, &offset, into, NULL, piece, 0));
}
#endif
