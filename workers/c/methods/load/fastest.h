/* The fastest ring of O_DIRECT reads on this machine, each step used while others are under way. */
#ifndef PAGEWISE_LOAD_FASTEST_H
#define PAGEWISE_LOAD_FASTEST_H
#include "load.h"

struct fastest {
    bool whole; /* all of the file in large steps, or a step for each record */
    unsigned depth;
};

struct fastest fastest_choose_ring(struct slot *s, struct load *l, const uint32_t *ascending);
/* Brings and uses what `ascending` names; `timed`: in the phases open to first-use. Returns nanoseconds. */
uint64_t fastest_pass(struct slot *s, struct load *l, const uint32_t *ascending, struct fastest kind, bool timed);
uint64_t fastest_fold(void); /* what the uses of the last pass came to */
#endif
