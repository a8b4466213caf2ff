/* Operations of 4 KiB on a file of the run's folder. */
#ifndef PAGEWISE_TAIL_FILE_H
#define PAGEWISE_TAIL_FILE_H
#include "methods/read/cache.h"
#include "tail.h"

enum { TAIL_BLOCK = 4096 };
#define TAIL_FILE_MEMORY "8 * ops + 8388608"

struct tail_file {
    int fd;
    size_t blocks; /* a power of two */
};

/* A file with a block for each operation and each of the trial's, written and synced. It has no name any more. */
struct tail_file tail_file(struct slot *s, const struct tail *t);
void tail_file_end(struct slot *s, struct tail_file *f);

/* Each block comes up once, and none behind its neighbor: an odd factor permutes what a power of two counts. */
static inline off_t tail_block(const struct tail_file *f, size_t number)
{
    return (off_t)(number * 2654435761u % f->blocks * TAIL_BLOCK);
}
#endif
