/* The fastest of the known copies on this machine, by one thread or all. */
#ifndef PAGEWISE_OUTPUT_FASTEST_H
#define PAGEWISE_OUTPUT_FASTEST_H
#include "worker.h"

struct fastest {
    int copy;
    unsigned shares; /* a thread for each */
};

struct fastest fastest_choose(struct slot *s, char *to, const char *from, size_t bytes);
void fastest_ready(struct slot *s, struct fastest best); /* its threads wait; for the places that were chosen with */
void fastest_go(void);                                   /* measured: all bytes are copied */
void fastest_over(void);
#endif
