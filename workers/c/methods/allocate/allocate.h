/* What the `allocate` methods share: their parameters, their laws, and the proofs between the phases. */
#ifndef PAGEWISE_ALLOCATE_H
#define PAGEWISE_ALLOCATE_H
#include "others.h"
#include <stdlib.h>

#define ALLOCATE_PHASES "allocate fill refill free"
#define REUSE_KEY " reuse:first|steady|kept"
#define THREADS_KEYS " threads:count running:count"
#define ALLOCATE_KEYS "bytes:size backing:recycled|cold idle_ms:count" REUSE_KEY THREADS_KEYS
/* A kept block is zero no longer: what rests on zeroed blocks has no part there. */
#define ZEROED_KEYS "bytes:size backing:recycled|cold idle_ms:count reuse:first|steady" THREADS_KEYS
/* malloc's block lies where the library and the kernel put it, and so does a mapping unless it is asked for otherwise. */
#define MAPPED_KEYS "bytes:size align:kernel|huge backing:recycled|cold idle_ms:count" REUSE_KEY THREADS_KEYS
#define MAPPED_LAWS "align=huge: block_alignment >= huge_page_bytes; align=kernel: block_alignment >= page_bytes"
#define WHOLE_BYTES "bytes / page_bytes * page_bytes"
#define PAGES "((bytes + page_bytes - 1) / page_bytes)"
/* The pages that hold both glibc's 16-byte chunk header and the block; malloc itself writes the header. */
#define PAGES_WITH_HEADER "((bytes + 16 + page_bytes - 1) / page_bytes)"

/* A steady turn takes the faults of the turn before it, and a kept block none. */
#define REUSE_LAWS                                                                                                     \
    "reuse=kept: allocate.minor_faults + fill.minor_faults == 0; "                                                     \
    "reuse=steady: allocate.minor_faults + fill.minor_faults <= turn_faults + 4; "                                     \
    "reuse=steady: turn_faults <= allocate.minor_faults + fill.minor_faults + 4"

/* The block is really there after `fill`, holds what the method's name says, and is not faulted in again. */
#define FILLED_LAWS                                                                                                    \
    "filled_right == 1; refill.minor_faults == 0; " REUSE_LAWS "; " THREADS_LAWS "; " BYSTANDER_LAWS "; "              \
    "base_pages_only == 1: fill.anonymous_bytes >= before.anonymous_bytes + " WHOLE_BYTES "; "                         \
    "base_pages_only == 0: fill.anonymous_bytes + huge_page_bytes >= before.anonymous_bytes + " WHOLE_BYTES
/* The phase that takes the faults costs about the level seen, besides the writing, which `refill` does in resident memory;
 * in CPU time, so that a busy machine does not count. A few pages are too short a time for a timing law. */
#define BACKING_LAWS(phase)                                                                                            \
    "threads=1 & running=1 & reuse=first & backing=recycled & bytes >= 1048576: 1000 * " phase ".cpu_ns <= 3 * backing_level_ps * " PAGES      \
    " + 2000 * refill.cpu_ns; "                                                                                       \
    "threads=1 & running=1 & reuse=first & backing=cold & bytes >= 1048576: 1000 * " phase ".cpu_ns >= 2 * backing_level_ps * " PAGES
/* free() or munmap() gave the block back; what libraries keep for themselves is far less than the 1 MiB asked about. */
#define GIVEN_BACK "free.anonymous_bytes <= before.anonymous_bytes + 512 * 1024"
/* glibc's malloc, in a process whose heap nobody had used: a thread's start takes some of it. */
#define GLIBC_LAWS "malloc_is_glibc == 1; threads=1: heap_untouched == 1"
/* glibc maps large blocks by themselves, at most as much as fits takes it from the heap; in between both may happen,
 * because the first malloc of a process gets some 132 KiB of heap at once. */
#define GLIBC_MMAP_LAWS                                                                                                \
    "bytes <= 65536: mmapped_blocks == 0; reuse=first & bytes >= 262144: mmapped_blocks == 1; "                        \
    "reuse=first & bytes >= 1048576: " GIVEN_BACK
/* One fault a page where the kernel gives base pages only. malloc's own header took that of the first page; threads whose
 * parts of the block meet within a page may both fault on it. */
#define MALLOC_FAULT_LAWS(phase)                                                                                       \
    phase ".minor_faults <= " PAGES_WITH_HEADER " + threads - 1; "                                                      \
    "threads=1 & reuse=first & base_pages_only == 1 & bytes >= 262144: " phase ".minor_faults == " PAGES_WITH_HEADER " - 1"
#define MMAP_FAULT_LAWS(phase)                                                                                         \
    MAPPED_LAWS "; reuse=first: " phase ".minor_faults >= 1; " phase ".minor_faults <= " PAGES "; " \
    "reuse=first & base_pages_only == 1: " phase \
    ".minor_faults == " PAGES "; fill.rss_bytes == " PAGES " * page_bytes; reuse=first & bytes >= 1048576: " GIVEN_BACK

/* Before the first phase: units, backing, and the proof that nobody has used the heap. */
void allocate_begin(struct slot *s);
/* After allocate_begin(): the block of the turn before. NULL for reuse=first; reuse=steady goes through eight turns of `get`,
 * filling and `give`, and leaves the last to be given back within `allocate`; reuse=kept fills one block as often, and leaves
 * it to be used again. */
struct before {
    void *block;
    bool kept;
};
struct before allocate_before(struct slot *s, void *(*get)(struct slot *), void (*give)(struct slot *, void *));
void *get_malloc(struct slot *s);
void give_free(struct slot *s, void *block);
void *get_mapping(struct slot *s);
void give_unmap(struct slot *s, void *block);
/* Between `allocate` and `fill`: fails where the block is missing, and lets the compiler know that the block is seen. */
void allocate_check(struct slot *s, const void *block, const char *call);
/* After `fill`: every byte is `value`; where `each_page` is set, the block's first byte in each page is, all others are 0. */
void allocate_filled(struct slot *s, const char *block, char value, bool each_page);
uint64_t allocate_anonymous_bytes(struct slot *s); /* anonymous memory of the whole process */
/* Those of them in huge pages: where every mapping may get some, a library's first one holds the first objects already. */
uint64_t allocate_huge_bytes(struct slot *s);
bool allocate_all_are(const char *p, size_t bytes, char value);
void allocate_mapping(struct slot *s, const char *block); /* after `fill`, where the block is a mapping of its own */
/* Which library's malloc this process has. Skips unless it is `library`, where a method wants one preloaded. */
void allocate_malloc(struct slot *s, const char *library, const char *package);
void allocate_glibc(struct slot *s, const char *block);    /* after `fill`: where glibc's malloc took the block from */
void allocate_refilled(struct slot *s, const char *block); /* after `refill`: the digest */
void allocate_end(struct slot *s);                         /* after `free` */

/* Where and how a mapping is asked for: `align=huge` at a huge page's boundary with unmapped guards, else where the
 * kernel likes. */
struct place {
    void *at;
    int flags;
};
struct place mapping_place(struct slot *s);

/* What `fill` has each thread do. */
__attribute__((unused)) static void set_part(const struct part *part)
{
    memset(part->start, part->mark, part->bytes);
}

/* The byte that `refill` sets everywhere, so that all methods' digests agree. */
static inline char refill_mark(const struct slot *s)
{
    return (char)(s->seed | 1);
}

/* Offset of the block's first byte in the page after that of offset `at`; a block need not begin with a page. */
static inline size_t next_page(const char *block, size_t at, size_t page)
{
    return at + page - (uintptr_t)(block + at) % page;
}

static inline size_t whole_pages(const struct slot *s)
{
    return (s->bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
}
#endif
