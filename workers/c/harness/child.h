/* What a forked copy of a slot leaves for its parent, in memory that both share. */
#ifndef PAGEWISE_CHILD_H
#define PAGEWISE_CHILD_H
#include "core.h"
#include <stdatomic.h>

enum { CHILD_FACTS = 40 };
struct child {
    struct sample samples[MAX_PHASES];
    struct {
        char name[40], word[128];
        uint64_t value;
        bool is_word;
    } facts[CHILD_FACTS];
    int sample_count, fact_count;
    char ending[512];
};
struct gathering {
    atomic_uint arrived, turn;
    unsigned processes;
    atomic_bool broken; /* a child ended early: nobody waits at a barrier any more */
    struct child children[];
};
extern struct gathering *gathering;

/* In the child, first of all; it ends with its parent. */
void child_begin(struct child *child, pid_t parent);
#endif
