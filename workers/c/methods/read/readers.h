/* Threads that read steps of the input ahead of the one that consumes them, each into a buffer of its own. */
#ifndef PAGEWISE_READ_READERS_H
#define PAGEWISE_READ_READERS_H
#include "read.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { MOST_READERS = 256 };

struct reader {
    struct readers *all;
    unsigned number;
    sem_t wanted, done; /* its buffer may be filled; it is full */
    int error;
    pthread_t thread;
};

struct readers {
    struct input *in;
    int descriptor;
    unsigned count;
    bool ending;
    atomic_uint in_flight, most_in_flight;
    struct reader one[MOST_READERS];
};

/* Before the clock: the threads are there and wait. */
void readers_begin(struct slot *s, struct readers *all, struct input *in, unsigned count);
/* Measured: reads every step and consumes it; leaves an errno in `in->error`. */
void readers_pass(struct readers *all, int descriptor);
/* After the clock: the threads end; the fact `most_in_flight` is how many reads the kernel had at once. */
void readers_end(struct slot *s, struct readers *all);
#endif
