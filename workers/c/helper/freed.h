/* Memory that malloc has given back to the kernel and would have kept with the setting `keep`, by blocks. */
#ifndef PAGEWISE_FREED_H
#define PAGEWISE_FREED_H
#include <stdbool.h>
#include <stdint.h>

struct freed {
    uint64_t bytes[64]; /* of the largest blocks; 0 where there is none */
};

void freed_add(struct freed *f, uint64_t bytes);
/* True if so many bytes come from one block; the rest of that stays. A table that doubles never fits into its predecessors. */
bool freed_take(struct freed *f, uint64_t bytes);
/* The same of a heap that grows: neighbours in it are one block, so several may have to do. */
bool freed_take_several(struct freed *f, uint64_t bytes);
#endif
