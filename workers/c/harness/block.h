/* A private block of memory, in the pages that `pages=` asks for (base where the method has no such key) and aligned alike for
 * every method; and the proof that a block arrived. */
#ifndef PAGEWISE_BLOCK_H
#define PAGEWISE_BLOCK_H
#include "worker.h"

/* Filled and resident blocks are kept for the next slot of the same size: their pages are then the same for every method of a
 * launch, and nothing is faulted in anew for each sample. Whoever changes a filled block puts the pattern back. */
/* Skips the cell where its `pages` cannot be had; both sides of a pair do so at the same place, for the same reason. */
void block_check_pages(struct slot *s);
#define PAGES_KEY " pages:base|huge"
char *block_filled(struct slot *s, size_t bytes);    /* resident, holds the seeded pattern */
char *block_resident(struct slot *s, size_t bytes);  /* resident, holds nothing of the pattern */
char *block_untouched(struct slot *s, size_t bytes); /* not there yet; page frames like its own were in use just before */
void block_free(struct slot *s, char *p, size_t bytes); /* a kept block stays */
/* malloc's own, never touched, for the jobs as published; no advice on pages is given. One at a time; block_free() frees it. */
char *block_malloced(struct slot *s, size_t bytes);
uint64_t block_memory_bytes(struct slot *s, char *p, size_t bytes); /* resident, shared pages counted once */
/* Pages of the range that are in memory, by mincore: malloc's blocks may share a mapping with their neighbours, so that smaps
 * cannot tell them apart. */
uint64_t present_bytes(struct slot *s, const char *p, size_t bytes);
/* Records `huge_bytes` (under `name`): how much of the block lies in huge pages. */
void block_huge_fact(struct slot *s, const char *name, const char *p, size_t bytes);
uint64_t block_huge_bytes(struct slot *s, const char *p, size_t bytes);
void block_disown(const char *p);                       /* a kept block is the caller's from now on */
/* Records `digest` and `wrong_at`, the offset of the first byte that is not the pattern's (`bytes` where none is wrong). */
void block_prove(struct slot *s, char *p, size_t bytes);
/* A test may ask, by the environment variable PAGEWISE_TEST_WRONG_AT=OFFSET, for one byte to be spoiled before the proof; a
 * second call puts it back. */
void block_spoil(char *p, size_t bytes);
/* One sentence about how far a method came, for fail_because(). */
const char *came_so_far(const char *what, size_t done, size_t bytes);
#endif
