/* `writeback=periodic`: another thread writes the file back while random-write runs. */
#ifndef PAGEWISE_SHARE_WRITEBACK_H
#define PAGEWISE_SHARE_WRITEBACK_H
#include "worker.h"

void writeback_start(struct slot *s, int fd); /* returns once the first write-back is done */
void writeback_stop(struct slot *s);          /* records how many were made */
#endif
