/* What the `copy` methods share: their blocks, how often a sample repeats the copy, the proof of every copy. */
#ifndef PAGEWISE_COPY_H
#define PAGEWISE_COPY_H
#include "block.h"

#define COPY_KEYS "bytes:size destination:warm|first-touch batch_bytes:size"
#define COPY_PAGES "((bytes + page_bytes - 1) / page_bytes)"
/* A warm destination costs no fault, a fresh one exactly one a page: the cell is what its name says. */
#define COPY_LAWS                                                                                                      \
    "wrong_at == bytes; source_wrong_at == bytes; destination=warm: copy.minor_faults == 0; "                          \
    "destination=first-touch: copy.minor_faults == batch * " COPY_PAGES
/* A fresh destination has room for each copy of a sample. */
#define COPY_MEMORY "3 * bytes + 2 * batch_bytes"

struct copy {
    char *from, *to;
    size_t stride;  /* from one copy of the sample to the next: 0 where all go to the same warm destination */
    uint64_t batch; /* copies in a sample: as many as make up at least batch_bytes */
};

struct copy copy_begin(struct slot *s);
void copy_end(struct slot *s, const struct copy *c);
#endif
