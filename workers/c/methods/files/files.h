/* What the `files` methods share: many small files in one folder, the same bytes in one packed file, and the proofs. */
#ifndef PAGEWISE_FILES_H
#define PAGEWISE_FILES_H
#include "methods/read/read.h"

#define FILES_PHASES "open pass close"
#define FILES_KEYS "files:count bytes:size cache:hot|cold"
#define FILES_MEMORY "2 * files * bytes"
/* Every word of every file was used, in its order; and the page cache was what `cache=` says. Of what is hot one page in 64 may
 * be missing. What is cold comes from the device. */
#define FILES_LAWS                                                                                                     \
    "pass.ops == files; sum_wrong == 0; cache=hot: 64 * resident_before_bytes >= 63 * total_bytes; "                   \
    "cache=cold: resident_before_bytes == 0; cache=cold & counted == 1: device_bytes >= stored_bytes; "                \
    "cache=hot & calls_counted == 1: device_bytes <= 131072 + total_bytes / 64"

enum { NAME_BYTES = 24 };

struct files {
    const char *path;           /* of the folder with the small files */
    const char *packed;         /* of the one file with the bytes of all */
    const char (*names)[NAME_BYTES];
    size_t count, bytes, total;
    char *buffer;               /* resident; one page larger than `turns` files, so that a read can find the end */
    size_t buffer_bytes;
    uint64_t sum, failed;       /* left by the pass */
    size_t resident_before, stored;
    bool calls_counted, counted;
    struct io_counts before;
};

/* Before the clock: makes the files once, puts their cached pages into the cell's state, gets a buffer for `turns` files. */
void files_begin(struct slot *s, struct files *f, bool packed, size_t turns);
/* After the pass and before anything else. */
void files_proofs(struct slot *s, struct files *f, const char *calls);
void files_end(struct files *f);

/* The consumer of all methods: a file's words count with an odd weight, so that none may stand for another. */
static inline void files_use(struct files *f, size_t number, const void *data, size_t bytes)
{
    f->sum += sum_words(data, bytes) * (2 * number + 1);
}
#endif
