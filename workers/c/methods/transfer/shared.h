/* Shared memory of both sides without a name, so that none can be left behind: side a makes it and hands the descriptor
 * over. */
#ifndef PAGEWISE_SHARED_H
#define PAGEWISE_SHARED_H
#include "worker.h"

/* Both sides call it and get their mapping; no page is there yet. */
char *shared_open(struct slot *s, size_t bytes, int *descriptor);
uint64_t shared_memory_bytes(int descriptor); /* pages that the kernel holds for it */
#endif
