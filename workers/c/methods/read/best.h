/* How many O_DIRECT reads in flight, how large ones, and by which kind of ring are the fastest on this device. */
#ifndef PAGEWISE_READ_BEST_H
#define PAGEWISE_READ_BEST_H
#include "o_direct.h"
#include "ring.h"

struct best {
    unsigned depth;
    size_t chunk;
    enum ring_kind kind;
};
/* Never timed as a phase: short tries at the beginning of the file, once a process for each cell. */
struct best best_requests(struct slot *s);
/* direct_begin() with buffers in huge pages, and in sequential order whatever the cell asks for: sums do not depend on the
 * order, and a method that reads around what it is asked for beats every one that does not. A device is told of each
 * separate piece of memory that it shall write to, and of far fewer where they are contiguous. */
void best_begin(struct slot *s, struct input *in, const struct best *best);
#endif
