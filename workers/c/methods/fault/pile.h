/* What piles up where freed memory stays mapped: how much may, and what is there as the turns of a job go by. */
#ifndef PAGEWISE_FAULT_PILE_H
#define PAGEWISE_FAULT_PILE_H
#include "fault.h"

enum { QUARTERS = 4 };
struct pile {
    uint64_t bound_bytes;    /* what may pile up: `pile`, or half of what the machine has left where that is less */
    bool bounded_by_cgroup;  /* the kernel keeps the bound by taking freed pages back; otherwise the job stops there */
    uint64_t rss_bytes, lazyfree_bytes, reclaimed_pages; /* before the job */
    int reached;
    struct quarter {
        uint64_t turns, wall_ns, minor_faults, rss_bytes, lazyfree_bytes, reclaimed_pages;
    } quarters[QUARTERS];
};

void pile_open(struct slot *s, struct pile *pile);
void pile_start(struct pile *pile); /* before each run of turns: forgets its quarters */
/* After a turn: at each quarter of the turns, what has been spent so far and what lies there. */
void pile_turn(struct slot *s, struct pile *pile, uint64_t made, uint64_t turns);
bool pile_full(const struct slot *s, const struct pile *pile, uint64_t mapped_bytes);
uint64_t pile_bytes(struct slot *s, const struct pile *pile);
void pile_facts(struct slot *s, const struct pile *pile);
#endif
