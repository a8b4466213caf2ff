/* Two processes that each add to a counter of their own, in memory that both share. No counter is the other's: what they can
 * share is the cache line. */
#ifndef PAGEWISE_LINES_H
#define PAGEWISE_LINES_H
#include "pin.h"

#define LINES_KEYS "ops:count stores:atomic|plain " PIN_KEY
/* Plain additions are over before a host gives a taken CPU back: then the sample is flagged, not the method rejected. */
#define AT_ONCE(stores, moved)                                                                                         \
    "stores=" stores " & pin=l3: " moved " >= 1; stores=" stores " & pin=node: " moved " >= 1; "                       \
    "stores=" stores " & pin=far: " moved " >= 1; "
/* Both counted to the end, each side found the other's count whole, and where they run on two CPUs they did so at once. */
#define LINES_LAWS                                                                                                     \
    "count == ops; b.count == ops; other_count == ops; b.other_count == ops; " AT_ONCE("atomic", "other_moved")       \
    AT_ONCE("plain", "foreign_moved") PIN_LAWS

struct lines {
    uint64_t *mine;
    volatile uint64_t *other;
    char *page;
    uint64_t other_before;
};
/* Both sides map one page; b's counter lies `apart` bytes behind a's. They leave it at the same time. */
struct lines lines_begin(struct slot *s, size_t apart);
/* The measured loop. A plain addition is volatile, so that a compiler makes every load and every store. */
#define ADD_ALL(mine, ops, plain)                                                                                      \
    if (plain)                                                                                                         \
        for (uint64_t i = 0; i < (ops); i++)                                                                           \
            ++*(volatile uint64_t *)(mine);                                                                            \
    else                                                                                                               \
        for (uint64_t i = 0; i < (ops); i++)                                                                           \
            __atomic_fetch_add((mine), 1, __ATOMIC_RELAXED)
/* After the stores: what each side finds. */
void lines_end(struct slot *s, struct lines *l);
#endif
