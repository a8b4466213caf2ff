/* Requests of io_uring that wait for each other: a file is opened, read whole and closed without a call of its own. */
#ifndef PAGEWISE_FILES_LINKED_H
#define PAGEWISE_FILES_LINKED_H
#include "files.h"
#include "methods/read/ring.h"

enum { LINKED_FILES = 32, LINKED_STEPS = 3 }; /* in flight at once; requests of each */

/* Measured: a ring with a table of its own for the open files; 0, or an errno. */
int linked_open(struct ring *ring);
/* Measured: queues a file as number `turn` of the table and of the buffer; each request waits for the one before. */
void linked_queue(struct ring *ring, const struct files *f, int folder, size_t number, unsigned turn);
/* Measured: submits what is queued and waits until all of it is done. */
bool linked_finish(struct ring *ring);
#endif
