/* What the `unmap` methods share: touched memory, the threads beside, the count of shootdowns, what the threads beside lost. */
#ifndef PAGEWISE_UNMAP_H
#define PAGEWISE_UNMAP_H
#include "others.h"

#define UNMAP_PHASES "take-away others-owe"
#define UNMAP_KEYS "bytes:size chunk:size running:count others:running|asleep"
#define UNMAP_THREADS_KEYS UNMAP_KEYS " threads:count"
/* Every call did its work, each thread had a CPU to itself. Where shootdowns are interrupts (not on Arm, not with AMD's
 * INVLPGB), most calls have sent one while the others were really on their CPUs (a hypervisor tells the kernel of CPUs that it
 * took away, and those need none), and a process that runs on one CPU sends none: the count is the whole machine's. */
#define OTHERS_LAWS                                                                                                    \
    "cpus == running; take-away.major_faults == 0; running>=2 & others=running: other_passes >= 1; "                                    \
    "running>=2 & others=running: foreign_on_cpu_permille >= 500; "                                                     \
    "running>=2 & others=asleep: other_passes == 0; running>=2 & others=asleep: foreign_on_cpu_permille <= 500"
#define SHOOTDOWN_LAWS                                                                                                 \
    "running>=2 & others=running & interrupts_seen == 1 & foreign_on_cpu_permille>=900: 2 * foreign_shootdowns >= bytes / chunk; "       \
    "running=1 & one_thread == 1 & bytes>=64 * chunk: foreign_shootdowns < bytes / chunk"
#define UNMAP_LAWS "failed_calls == 0; touched_bytes == bytes; " OTHERS_LAWS "; " SHOOTDOWN_LAWS

struct range {
    char *p;
    size_t bytes, chunk;
    _Atomic size_t failed; /* calls that said no */
    struct others *others;
    uint64_t shootdowns;
    bool asleep; /* the other threads */
};

struct range unmap_begin(struct slot *s, bool touch);  /* `bytes` in base pages; counts in calls */
char *unmap_elsewhere(struct slot *s, struct range *r); /* where memory can move to; nothing may be mapped until it has */
void unmap_ready(struct range *r);                      /* last before the clock */
void unmap_others(struct slot *s, struct range *r, const char *call); /* right after it: checks, then the phase others-owe */
void unmap_end(struct slot *s, struct range *r);
/* Facts for the laws of a method. */
size_t chunks_gone(const struct range *r);              /* addresses that are mapped no more */
size_t chunks_read_only(struct slot *s, const struct range *r);
size_t wrong_marks(struct slot *s, const struct range *r, const char *p);
#endif
