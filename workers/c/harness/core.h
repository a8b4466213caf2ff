/* Shared by the worker's own files and the helper; methods include worker.h. Each file uses only those above it. */
#ifndef PAGEWISE_CORE_H
#define PAGEWISE_CORE_H
#include "worker.h"
#include <setjmp.h>

enum { MAX_PARAMETERS = 24, MAX_EXTRA = 8, MAX_PHASES = 24, MAX_PROCESSES = 256, FACTS_OF_A_SLOT = 40 };

struct parameter {
    const char *key, *value;
};

struct cell {
    int number;
    const struct method *method;
    struct parameter parameters[MAX_PARAMETERS];
    int parameter_count;
    int line;      /* of its `cell` line, for messages */
    bool ended;    /* skipped or failed: its remaining slots are not run */
};

struct round {
    int number; /* negative: warm-up */
    int *cells;
    int cell_count;
};

struct request {
    const char *experiment, *rendezvous, *directory, *name;
    uint64_t launch, seed;
    char role; /* 0 where the request names none */
    bool trace_marks, hardware_counters;
    int *proofs; /* measured rounds that carry proofs; NULL: every round does */
    int proof_count;
    struct cell *cells;
    int cell_count;
    struct round *rounds;
    int round_count;
};

struct counters {
    uint64_t cpu_ns, user_ns, system_ns, minor_faults, major_faults, voluntary_switches, involuntary_switches;
    uint64_t extra[MAX_EXTRA];
};

struct sample {
    int slot, round, cell;
    const char *phase;
    uint64_t ops, bytes, start_ns, wall_ns;
    struct counters spent;
};

/* arena.c: memory that is not malloc's, so that a method which measures malloc finds it untouched. */
void *arena(size_t bytes);

/* out.c: the transcript. It is standard output, unless what a user's function prints must not be in it. */
extern int transcript_fd;
void out(const char *format, ...) __attribute__((format(printf, 1, 2)));
void out_flush(void);
void out_warm(void); /* faults in what it writes to before it writes */

/* clock.c */
uint64_t clock_read_ns(void); /* what one read costs: the smallest mean of 64 rows of 65 reads */

/* about.c */
const char *worker_name(void);
const char *worker_compiler(void);
const char *worker_flags(void);

/* keys.c */
extern struct request request; /* the one being run */

/* content.c */
extern bool proving; /* the slot's `proofs`, for what is given no slot */

/* methods.c */
const struct method *method_find(const char *experiment, const char *name);
void methods_list(void);
int phase_count(const struct method *method);

/* request.c */
void request_read(void);
__attribute__((noreturn)) void request_error(int line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* perf.c */
void perf_open(void);
void perf_read(uint64_t extra[MAX_EXTRA]);
int perf_columns(const char *names[MAX_EXTRA]);

/* counts.c: in place of perf.c's columns where a launch is counted. */
bool counts_open(void); /* false where it is not */
void counts_clock(void);
int counts_begin(uint64_t into[MAX_EXTRA]); /* how many */
int counts_end(uint64_t into[MAX_EXTRA]); /* without what the stopwatch itself calls */
void counts_spent(uint64_t spent[MAX_EXTRA]); /* memory that a phase gave back is none that it took */
int counts_columns(const char *names[MAX_EXTRA]);

/* transcript.c */
void transcript_open(int sample_capacity, int fact_capacity);
void transcript_columns(void);
void record_sample(const struct sample *sample);
void add_sample(const struct sample *sample); /* to the slot's sample of that phase, where there is one */
void sample_into(struct sample *into, const struct sample *more);
void forget_sample(int slot, const char *phase);
int samples_recorded(void);
void samples_drop(int count); /* those after the first so many */
void record_fact(int slot, int cell, const char *name, const char *value);
void record_end(const char *line);
void transcript_write(bool whole);

/* child.c: within a forked copy of a slot. */
bool in_child(void);
void child_barrier(void);
void child_sample(const struct sample *sample);
void child_add_sample(const struct sample *sample);
void child_fact(const char *name, uint64_t value, const char *word);
__attribute__((noreturn)) void child_end(const char *line);
__attribute__((noreturn)) void child_ended(const char *line, size_t length, int status); /* in a signal's handler */

/* outcome.c */
extern sigjmp_buf slot_exit;      /* where fail() and skip() return to */
extern void (*slot_left)(void);   /* ends what a slot that returned there left running; NULL: nothing */
extern const char *current_phase; /* NULL between phases */
extern volatile int current_slot, current_cell;
extern bool sides_agree;          /* the slot ends on both sides alike */

/* signals.c */
void signals_watch(void);

/* code.c */
void code_touch(void);

/* parallel.c */
void pool_open(struct slot *s);
void pool_close(struct slot *s);
void pool_facts(struct slot *s); /* how often threads shared work, and how often one had ended before another began */
void pool_arm(struct slot *s);
void pool_settle(struct slot *s);

/* phase.c */
void counters_read(struct counters *into);
void warm_stopwatch(void);

/* processes.c */
void run_in_processes(struct slot *s, unsigned processes);

/* huge.c: takes back what the slot forbade. */
void huge_pages_after(void);

/* sides.c */
void sides_open(void);

/* state.c: what a state of the machine asks of the worker. */
void state_enter(void);
#define MOST_SWEPT_BYTES (512ul << 20)
int kept_file(size_t notes_bytes);  /* the laboratory's file in memory, at least so long; -1: none (kept.c) */
void *kept_notes(size_t bytes);     /* what stands behind the memory that is swept, zero at first; NULL: none (kept.c) */
void state_renew(void);                /* before a slot */
void state_cool(void);                 /* before a phase */
void state_tell(const char *moment);   /* "before" or "after" */

/* worker.c */
void transcript_about(void);
void worker_run(void);
#endif
