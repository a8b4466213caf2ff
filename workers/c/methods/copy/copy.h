/* What the `copy` methods share: their blocks, how often a sample repeats the copy, the proof of every copy. */
#ifndef PAGEWISE_COPY_H
#define PAGEWISE_COPY_H
#include "block.h"

#define COPY_KEYS                                                                                                      \
    "bytes:size destination:warm|first-touch batch_bytes:size frames:cached|memory|swept then:nothing|use" PAGES_KEY
#define COPY_PAGES "((bytes + page_bytes - 1) / page_bytes)"
/* A warm destination costs no fault, a fresh one exactly one a page: the cell is what its name says. Both blocks are in the
 * pages that were asked for; of a fresh one in huge pages the rest may be in base pages. */
#define COPY_WARM_LAWS                                                                                                 \
    "wrong_at == bytes; wrong_copies == 0; source_wrong_at == bytes; destination=warm: copy.minor_faults == 0; "       \
    "pages=base: huge_bytes == 0; pages=huge: huge_bytes >= 2 * (bytes / huge_page_bytes * huge_page_bytes); " EMPTIED_LAWS
#define COPY_LAWS                                                                                                      \
    COPY_WARM_LAWS "; pages=base & destination=first-touch: copy.minor_faults == batch * " COPY_PAGES "; "             \
    "pages=huge & destination=first-touch: copy.minor_faults <= 2 * batch * bytes / huge_page_bytes + 1024"
/* A fresh destination has room for each copy of a sample. */
#define COPY_MEMORY "3 * bytes + 2 * batch_bytes"

struct copy {
    char *from, *to;
    size_t stride;  /* from one copy of the sample to the next: 0 where all go to the same warm destination */
    size_t wrong;   /* not 0 where a copy of the sample did not come out */
    bool use;       /* each copy is read once it is made */
    uint64_t batch; /* copies in a sample: as many as make up at least batch_bytes */
    unsigned warm_up; /* blocks in the caches lie there as a copy of the same kind leaves them */
};

/* Repeats `one`, the copy number i of `bytes` from `from` to `to + i * stride`. All copies of a warm sample go to the same
 * place, so each carries a byte of its own, which must come out there: a copy that was left out, or made once for all, is
 * noticed. The byte is another one each time and is put back at both ends. */
#define EACH_COPY(one)                                                                                                 \
    unsigned char wrong = 0, flip = stride ? 0 : 0xff;                                                                 \
    size_t at = 0, step = bytes / 7 + 1, last = 0;                                                                     \
    for (uint64_t i = 0; i < batch; i++) {                                                                             \
        from[at] ^= flip;                                                                                              \
        one;                                                                                                           \
        if (c.use)                                                                                                     \
            copy_use(to + i * stride, bytes);                                                                          \
        wrong |= (unsigned char)(to[i * stride + at] ^ from[at]);                                                      \
        from[at] ^= flip;                                                                                              \
        last = at;                                                                                                     \
        at = at + step < bytes ? at + step : 0;                                                                        \
    }                                                                                                                  \
    to[last] ^= flip;

/* Before the phase, two more copies by the same call: where another method wrote the lines of the destination, streaming stores
 * take three times as long as where they were streamed before; and behind streaming stores a memcpy of 16 MiB took a fifth
 * longer even after one. */
#define COPY_BEFORE(one)                                                                                               \
    for (uint64_t i = 0; i < c.warm_up; i++)                                                                           \
        one;

/* Reads every word, as whoever the copy is for. */
void copy_use(const char *p, size_t bytes);

struct copy copy_begin(struct slot *s);
void copy_caches(struct slot *s, const struct copy *c); /* once more, where the blocks were used meanwhile */
void copy_end(struct slot *s, const struct copy *c);
#endif
