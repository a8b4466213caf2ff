/* Threads that run in the same address space while the calling thread takes memory away. Each counts passes over its own few
 * pages; afterwards all of them make up for the passes that they lost. */
#ifndef PAGEWISE_OTHERS_H
#define PAGEWISE_OTHERS_H
#include "worker.h"
#include <pthread.h>
#include <stdatomic.h>

enum { MAX_OTHERS = 255, WARM_PAGES = 32 };

struct other {
    pthread_t thread;
    struct others *all;
    char *pages;                          /* WARM_PAGES pages of its own, which its passes read */
    _Atomic uint64_t passes;              /* written by its thread at the end of each turn */
    uint64_t elapsed_ns, cpu_ns, owed;    /* of its last turn; passes that it lost */
    int ran_on;
    bool lives;                           /* there is a thread to join */
} __attribute__((aligned(128)));

struct others {
    unsigned count;                       /* 0: the caller is alone */
    size_t page_bytes;
    _Atomic unsigned turn, ready, moving, done; /* everybody comes to the start line where `turn` grows */
    _Atomic unsigned begun, ended;        /* the turn that has begun, and the one that is over */
    _Atomic bool closing;
    bool by_owed;                         /* the turn ends after so many passes, not by others_stop() */
    bool asleep;                          /* they sleep from others_start() to others_stop() instead of making passes */
    struct other each[];
};

/* `running=N` threads in all, each on a CPU of its own. */
struct others *others_open(struct slot *s);
void others_close(struct others *all);
/* Has everybody run, and returns when each has begun; others_stop() ends that and waits for how far each came. */
void others_start(struct others *all);
void others_stop(struct others *all);
/* After a disturbed turn: one of the same length while the caller only spins, then what each has lost against it.
 * Records how far they came in both, and on how many CPUs all of them ran. */
void others_compare(struct slot *s, struct others *all);

/* Before a phase: has everybody at the start line. Inside it: lets them run until each has made the passes that it owes. */
void others_arm(struct others *all, bool by_owed);
void others_catch_up(struct others *all);

/* For methods in whose phases the other threads are only there: they run from begin to end. Nothing where running=1. */
#define BYSTANDER_LAWS                                                                                                 \
    "running>=2: cpus == running; running>=2: other_passes >= 1; running>=2: foreign_on_cpu_permille >= 500"
void bystanders_begin(struct slot *s);
void bystanders_end(struct slot *s);

uint64_t tlb_shootdowns(void); /* interrupts that had a CPU forget translations, of the whole machine, since it started */
/* Whether taking memory away sends such interrupts here: asked once, of a page that is protected over and over. */
bool shootdowns_interrupt(struct slot *s, struct others *all);
#endif
