/* What a method file sees. Its phases' braces are the stopwatch. Methods that differ in a word share a body. See
 * workers/PROTOCOL.md. */
#ifndef PAGEWISE_WORKER_H
#define PAGEWISE_WORKER_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "portable.h"

struct cell;
struct threads;

/* Why a size cannot be made up of huge pages; where theirs is unknown, none can. */
#define NO_WHOLE_HUGE_PAGES                                                                                            \
    "bytes is not a multiple of a huge page, whose size /sys/kernel/mm/transparent_hugepage/hpage_pmd_size has"

/* One turn of one cell: what a method's run function is given. Fields are read into locals before a measured loop. */
struct slot {
    const struct cell *cell;
    int number;            /* position in the launch */
    int round;             /* negative in warm-up rounds */
    size_t bytes;          /* the cell's bytes (this process's share of them when a cell asks for several processes) */
    size_t page_bytes;     /* base page */
    size_t huge_page_bytes;/* PMD-mapped page; 0 where the kernel has none */
    bool proofs;           /* whether this round proves: where not, facts and digests are neither computed nor recorded */
    uint64_t seed;
    uint64_t ops;          /* units that the next phases are counted in; set by the method, 1 until then */
    uint64_t phase_bytes;  /* payload of the next phases in bytes; `bytes` until set */
    unsigned threads;      /* threads that share each parallel phase, the caller included */
    char role;             /* 'a' or 'b' in two-sided methods, 'a' otherwise */
    struct threads *pool;
};

/* A method is one described value; METHOD() enters it in the worker's list, so nothing else names the file. */
struct method {
    const char *experiment, *name;
    const char *role;      /* method (default), limit, null or published */
    const char *group;     /* NULL: the ordinary one */
    const char *summary;   /* one sentence */
    const char *phases;    /* "map first-touch unmap" */
    const char *keys;      /* "bytes:size release:dontneed|free threads:count" */
    const char *laws;      /* see PROTOCOL.md */
    const char *calls;     /* system calls made inside the phases: "map:mmap release:madvise" */
    const char *memory;    /* bytes at its peak: "bytes", "2 * bytes" */
    const char *isolation; /* shared (default), own or fresh */
    const char *preload, *package;
    const char *tunables;  /* GLIBC_TUNABLES that its process is started with */
    const char *needs;     /* huge-pages, …: what --allow-system-changes may provide; NULL: nothing */
    bool backing_huge;     /* its backing is prepared with huge pages */
    void (*run)(struct slot *);
    void (*run_b)(struct slot *); /* the other side's part, where a method has two sides */
    const char *source;    /* filled in by METHOD() */
};

#define METHOD(variable, ...)                                                                                          \
    static const struct method variable = {__VA_ARGS__, .source = __FILE__};                                    \
    __attribute__((used, section("pagewise_methods"))) static const struct method *const variable##_entry = &variable

/* A `static SHARED_BODY` function is the body of several methods of one file, each with an entry that hands it constants. It is
 * compiled anew into each entry: where the compiler optimises, what a constant decides is decided before it runs. */
#define SHARED_BODY inline __attribute__((always_inline))

/* PHASE(s, "map") { … } times exactly what is between its braces. Counters are read before the first clock read and after
 * the second. PARALLEL_PHASE also has the helper threads of `threads=N` waiting at the start line, spinning. */
#define PHASE(s, name) for (int open_ = phase_begin((s), (name), 0); open_; open_ = phase_end(s))
#define PARALLEL_PHASE(s, name) for (int open_ = phase_begin((s), (name), 1); open_; open_ = phase_end(s))
int phase_begin(struct slot *s, const char *name, int parallel);
int phase_end(struct slot *s);
/* SERIES_PHASE is a phase that a slot passes many times, with untimed work between: times and counters add up to one sample,
 * as with a benchmark's timer that is stopped and started; ops and bytes are those set for the last turn. phase_forget() drops
 * what has added up. */
#define SERIES_PHASE(s, name) for (int open_ = phase_begin((s), (name), 0); open_; open_ = phase_end_series(s))
int phase_end_series(struct slot *s);
void phase_forget(struct slot *s, const char *name);
/* Sums of a SERIES_PHASE until now. The phase has had a turn. */
struct series {
    uint64_t wall_ns, minor_faults;
};
struct series series_so_far(const struct slot *s, const char *phase);

/* One thread's part of a parallel phase. */
struct part {
    char *start;
    size_t bytes;
    size_t page_bytes;
    char mark;
};
/* Runs `work` once per thread, each on its own contiguous, huge-page-aligned part; the caller does the first part. */
void pool_wake(struct slot *s); /* before on_every_thread() outside of a parallel phase */
void pool_wake_only(struct slot *s); /* the same without waiting until the helpers have come */
/* From the next call on, helpers come for so many turns and spin between them. */
void pool_stay(struct slot *s, unsigned turns);
void pool_rest(struct slot *s); /* until the helpers have slept for 50 µs */
/* The threads of `threads=N` worked, and at the same time: none ended before another had begun, unless something else had its
 * CPU. The facts are the harness's own. */
#define THREADS_LAWS "threads > 1: shared_turns >= 1; threads > 1: foreign_delays == 0"
void on_every_thread(struct slot *s, void (*work)(const struct part *), char *start, size_t bytes, char mark);

/* A copy of this process, forked by the method, that passes phases and records facts of its own (parallel.c). copy_open()
 * comes before the fork; the child calls copy_enter() first and copy_leave() last. copy_close() waits for `pid` (0: that was
 * done) and adds what the child reported to the slot; where the child failed, the slot ends there with the child's words. */
void copy_open(struct slot *s);
void copy_enter(void);
__attribute__((noreturn)) void copy_leave(void);
void copy_close(struct slot *s, pid_t pid);

/* Parameters of the cell; the request was checked against the method's `keys`, so these cannot fail. */
size_t key_size(const struct slot *s, const char *key);
const char *key_word(const struct slot *s, const char *key);
bool key_is(const struct slot *s, const char *key, const char *word);
/* True if a word is one of those, which have a space between them. */
bool is_among(const char *words, const char *word);

/* Outcomes. fail() and skip() do not return: the slot ends there. `call` names the system call, errno says why. */
__attribute__((noreturn)) void fail(struct slot *s, const char *call);
__attribute__((noreturn)) void fail_because(struct slot *s, const char *call, const char *message);
__attribute__((noreturn)) void skip(struct slot *s, const char *reason);
/* Skips what both sides find by the cell's keys alone, before either waits for the other: they go on together. */
__attribute__((noreturn)) void skip_alike(struct slot *s, const char *reason);
/* Text of any length that lives as long as the worker, for reasons. Outside of malloc, which some methods measure. */
const char *arena_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A reason for skip() and agree(): the call, what it answered (errno), and what may be behind that. */
const char *refused(const char *call, const char *hint);
void fact(struct slot *s, const char *name, uint64_t value);
void fact_word(struct slot *s, const char *name, const char *value);
/* Records the name of a file's file system, such as `ext4`, as `file_system`, and returns its number (<linux/magic.h>). */
uint32_t fact_file_system(struct slot *s, int fd);

/* What the page cache holds of a file, and what of that is still to be written, in bytes (page_cache.c). */
struct file_pages {
    uint64_t cached, dirty;
};
/* False where nothing tells; the file must be open for reading. */
bool file_pages(const struct slot *s, int fd, struct file_pages *found);
/* The same where a proof needs it: it is skipped where nothing tells. */
struct file_pages proved_pages(struct slot *s, int fd);

/* Content (content.c): the protocol's digest, pattern and index sequence. */
uint64_t digest_of(const void *start, size_t bytes);
void fact_digest(struct slot *s, const void *start, size_t bytes);
void fact_digest_value(struct slot *s, uint64_t digest); /* where a method folds its content in a way of its own */
uint64_t pattern_word(uint64_t seed, uint64_t index);
void pattern_fill(void *start, size_t bytes, uint64_t seed);
/* Offset in bytes of the first word that differs from the pattern, or `bytes` where none does and in a round without proofs. */
size_t pattern_first_wrong(const void *start, size_t bytes, uint64_t seed);

/* Memory (memory.c). free_range() finds an address range that nothing maps, aligned to huge pages, with unmapped guards on
 * both sides; map it with MAP_FIXED_NOREPLACE so that every method gets the same alignment. */
void *free_range(struct slot *s, size_t bytes);
void check_map(struct slot *s, const void *mapped);
/* After madvise(MADV_HUGEPAGE): skips where the kernel does not know it, fails where it was refused for another reason. */
void check_huge_advice(struct slot *s, int advised);
/* What a phase took away must be gone: fails where one of its calls did not return 0. */
void check_done(struct slot *s, int left, const char *calls);
struct resident {
    uint64_t rss_bytes, huge_bytes, lazyfree_bytes;
    uint64_t pss_bytes; /* resident, each page divided by the number of processes that have it */
};
/* From /proc/self/smaps; all zero in a round without proofs. resident_now() looks in every round, for methods that go by it. */
struct resident resident_in(struct slot *s, const void *start, size_t bytes);
struct resident resident_now(struct slot *s, const void *start, size_t bytes);
struct resident resident_in_process(struct slot *s); /* from /proc/self/smaps_rollup */
/* Bytes of whole pages that are there, by the range's page table: also where smaps has the range within a larger mapping. */
uint64_t mapped_present_bytes(struct slot *s, const void *start, size_t bytes);
/* Huge pages of all mappings that touch the range: for memory whose mapping may have been merged with a neighbour's. */
uint64_t huge_bytes_around(struct slot *s, const void *start, size_t bytes);
uint64_t peak_rss_bytes(void);                                                /* VmHWM */
void reset_peak_rss(void);
/* Puts the memory that the slot will get into the asked-for state: `recycled` (touched and given back just now) or `cold`
 * (idle long enough for the host to take it back). Records the level seen; backing_after() does so for `cold`. */
void backing_before(struct slot *s, size_t bytes);
void backing_before_in(struct slot *s, size_t bytes, bool huge); /* by passes over pages of this kind */
void backing_after(struct slot *s, size_t bytes);
/* Lines in the caches (caches.c). frames=memory: as much memory as the slot will get next from the kernel's free lists is
 * touched, flushed and given back, so that the slot gets the same frames; frames=swept, and memory where lines cannot be
 * flushed or the frames would be others: four times the last cache of other data is written. `flags` and `advice` are those
 * of the slot's memory. */
void frames_before(struct slot *s, size_t bytes, int flags, int advice);
/* After the touch, to whoever may see frames: how many are seen, and how many of them were not flushed. */
void frames_proofs(struct slot *s, const char *start, size_t bytes);
/* The same for one or two blocks that are there already. blocks_flush() only flushes; it says whether it could. */
void blocks_before(struct slot *s, const char *a, const char *b, size_t bytes);
bool blocks_flush(struct slot *s, const char *block, size_t bytes);
/* Flushed lines take longer to read than the same ones once they have come. */
#define EMPTIED_LAWS                                                                                                   \
    "frames=swept: swept_bytes >= 67108864; frames=memory & flushed_bytes == 0: swept_bytes >= 67108864; "             \
    "frames=memory & swept_bytes == 0: flushed_bytes >= bytes; "                                                       \
    "frames=memory & swept_bytes == 0: flushed_lines_ns >= 2 * cached_lines_ns"
#define SAME_FRAMES_LAW "frames=memory & swept_bytes == 0 & frames_seen > 0: 4 * foreign_frames <= frames_seen"
/* Last of all in a slot that touched all of `bytes` in pages of its method's kind and unmapped them: the next slot's backing is
 * recycled by that, if it wants as much of the same. */
void backing_given_back(const struct slot *s, size_t bytes);
bool wants_huge_pages(const struct slot *s); /* the method's `backing_huge` */
/* Flags for memfd_create() that vm.memfd_noexec=2 accepts as well as a kernel that knows nothing of it. Makes a call: ask
 * before the phase. */
unsigned memfd_flags(void);
/* Why memfd_create() gave no descriptor where it is not permitted or not there; NULL where it did, or failed otherwise. */
const char *memfd_obstacle(int descriptor);
/* Runs `work` as a process that inherits what is mapped now and waits for its end; its samples and facts become the slot's. */
void run_in_child(struct slot *s, void (*work)(struct slot *, void *), void *argument);

/* Huge pages as the kernel's settings grant them (huge.c), to memory that is `advised` by MADV_HUGEPAGE or to any. */
bool huge_pages_granted(const struct slot *s, bool advised);
/* Skips the cell, with the reason, where advised memory gets no huge pages. */
void need_huge_pages(struct slot *s);
bool folio_granted(const struct slot *s, size_t bytes, bool advised); /* of one size, a power of two */
bool small_folios_granted(const struct slot *s, bool advised); /* sizes between a base page and a huge page */
/* The faults that touching a mapping of its own from its start to its end takes by these settings. */
uint64_t expected_faults(const struct slot *s, const void *start, size_t bytes, bool advised);
void forbid_huge_pages(struct slot *s, bool forbidden); /* to the whole process, until the slot ends */

/* Two sides (sides.c). meet() is a rendezvous of both sides; tell() and hear() pass a few bytes, and descriptors. */
void meet(struct slot *s);
void meet_asleep(struct slot *s); /* the same for the other side, and leaves both where the scheduler puts them */
void tell(struct slot *s, const void *data, size_t bytes);
void hear(struct slot *s, void *data, size_t bytes);
void tell_descriptor(int descriptor);
int hear_descriptor(struct slot *s);
/* Both sides say what keeps them from doing this cell (NULL: nothing). If one has an obstacle, both skip the cell with its
 * reason and go on together; skip() alone would end the launch. */
void agree(struct slot *s, const char *obstacle);
/* Where the rendezvous breaks, this path is removed, for the other side may be gone that would have done so; NULL: none. */
void remove_if_lost(const char *path);
bool peer_gone(void); /* whether the other side has ended; for the slow path of whoever waits on shared memory */
const char *launch_name(void);      /* `name` of the request */
const char *launch_socket(void);    /* a second path beside the rendezvous, in a folder that only this user can enter */
const char *launch_directory(void); /* `directory` of the request */

uint64_t now_ns(void); /* CLOCK_MONOTONIC */
/* CPU time of this thread: turns of other processes are not in it, a host that must find a page first is. */
uint64_t thread_cpu_ns(void);

/* The helper program (helper.c): PAGEWISE_HELPER, or beside this worker. Fails the cell where it is not there. */
const char *helper_path(struct slot *s);
/* Starts it with a verb and its words, up to a NULL. `input` becomes its standard input, `further` its descriptor 3 (-1: none).
 * No fork(): that would leave every page of the worker write-protected, and the faults of taking them back in phases. */
pid_t helper_start(struct slot *s, char *const verb[], int input, int further);
#endif
