/* Passes of a short turn that are not recorded. */
#ifndef PAGEWISE_SETTLE_H
#define PAGEWISE_SETTLE_H
#include "core.h"

/* One pass of what a turn does; NULL, or what it failed with. */
typedef const char *pass_of_turn(struct slot *);
/* The pass that is recorded. Where it is short and `settles`, others come right before it (workers/PROTOCOL.md). */
const char *settled_pass(struct slot *slot, pass_of_turn *pass, bool settles);
#endif
