/* Memory that malloc has given back to the kernel and would have kept with the setting `keep`, by blocks. */
#ifndef PAGEWISE_FREED_H
#define PAGEWISE_FREED_H
#include <stdbool.h>
#include <stdint.h>

enum { FREED_BLOCKS = 64 };

struct freed {
    uint64_t bytes[FREED_BLOCKS]; /* of the largest blocks; 0 where there is none */
    bool unwritten[FREED_BLOCKS];
};

/* Where memory would come from. What was only read is of the zero page, so that a write to it faults all the same. */
enum kept { NOT_KEPT, KEPT, KEPT_UNWRITTEN };

void freed_add(struct freed *f, uint64_t bytes, bool unwritten);
/* So many bytes from one block; the rest of that stays. A table that doubles never fits into its predecessors. */
enum kept freed_take(struct freed *f, uint64_t bytes);
/* The same of a heap that grows: neighbours in it are one block, so several may have to do. */
enum kept freed_grow(struct freed *f, uint64_t bytes);
#endif
