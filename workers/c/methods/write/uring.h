/* An io_uring for two requests that are linked: a write, and the fdatasync that waits for it. */
#ifndef PAGEWISE_WRITE_URING_H
#define PAGEWISE_WRITE_URING_H
#include "write.h"

void uring_begin(struct slot *s, int fd); /* skips where io_uring is refused */
bool uring_put(const struct record *r);
void uring_end(void);
#endif
