/* `writeback=periodic`: another thread writes the file back while random-write runs. */
#ifndef PAGEWISE_SHARE_WRITEBACK_H
#define PAGEWISE_SHARE_WRITEBACK_H
#include "worker.h"

void writeback_start(struct slot *s, int fd); /* returns once the first write-back is done */
/* Records how many were made, and with writeback=none as well: which part of the file is dirty now, and what the whole machine
 * wrote back. Returns how many bytes this process made dirty meanwhile that were clean. */
uint64_t writeback_stop(struct slot *s, int fd);
#endif
