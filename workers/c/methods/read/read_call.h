/* What the methods of the read family share: a step's bytes, however many calls the kernel takes for them. */
#ifndef PAGEWISE_READ_CALL_H
#define PAGEWISE_READ_CALL_H
#include "read.h"

/* read(2) may bring less than was asked for; less than nothing is an error, and nothing means that the file has shrunk.
 * `call` is one read at `offset + have` into `have` bytes behind the buffer's start. */
#define READ_STEP(in, want, have, call)                                                                                \
    while ((have) < (want)) {                                                                                          \
        ssize_t got_ = (call);                                                                                         \
        if (got_ < 0 && errno == EINTR)                                                                                \
            continue;                                                                                                  \
        if (got_ <= 0) {                                                                                               \
            (in)->error = got_ < 0 ? errno : ENODATA;                                                                  \
            break;                                                                                                     \
        }                                                                                                              \
        (have) += (size_t)got_;                                                                                        \
    }
#endif
