/* P1's random write as it was published: nothing touches the region before, rand() % size in the loop, one after the other for
 * as many stores as are asked for. With 1e9 of them a file on a disk is written back meanwhile, which is what it was about. */
#ifndef PAGEWISE_SHARE_PUBLISHED_H
#define PAGEWISE_SHARE_PUBLISHED_H
#include "share.h"

#define PUBLISHED_KEYS "bytes:size ops:count load:0|25%"
#define PUBLISHED_PHASES "map random-write unmap"
#define PUBLISHED_LAWS                                                                                                 \
    "backed_as_named == 1; wrong_bytes == 0; "                                                                         \
    "load=25%: 100 * load_cpu_ns + 5 * load_wall_ns >= load_percent * load_wall_ns; "                                  \
    "load=25%: 100 * load_cpu_ns <= load_percent * load_wall_ns + 5 * load_wall_ns"

/* The loop and its check. `fd`: the file, whose write-back is told; negative where there is none. */
void published_write(struct slot *s, char *p, int fd);
#endif
