/* What the `share` methods have in common: phases, keys, laws, the measured loops, the proofs. A method only says how its
 * memory comes to be shared and how a second process attaches it; all that is done to the memory is the same for all. */
#ifndef PAGEWISE_SHARE_H
#define PAGEWISE_SHARE_H
#include "pin.h"

#define SHARE_FIRST_PHASES "map first-touch "
#define SHARE_LOOP_PHASES "random-write index-only clear random-read unmap"
/* Side b's phases lie between: all pages are there already, and another process has put them there. */
#define SHARE_PHASES                                                                                                   \
    SHARE_FIRST_PHASES "attach first-read write-after-read detach first-write populate " SHARE_LOOP_PHASES
#define SHARE_ALONE_KEYS "bytes:size ops:count clear_bytes:size index:rand|xorshift|table load:0|25%"
#define SHARE_KEYS SHARE_ALONE_KEYS " " PIN_KEY
/* Content: every byte is what the stores must have left, every byte zero after clearing, every read returned the byte that
 * was there. Load: the other process really took its share of a CPU while the slot ran. */
#define SHARE_CONTENT_LAWS                                                                                             \
    "wrong_bytes == 0; cleared == 1; read_sum == expected_read_sum; index_sum == expected_index_sum; "                 \
    "load=25%: 100 * load_cpu_ns + 5 * load_wall_ns >= load_percent * load_wall_ns; "                                            \
    "100 * load_cpu_ns <= load_percent * load_wall_ns + 5 * load_wall_ns"
/* One fault a page, base or huge as the kernel chose, and none afterwards: what is shared memory stays mapped. */
#define SHARE_TOUCH_LAW                                                                                                \
    "first-touch.minor_faults + first-touch.major_faults == (bytes - huge_bytes) / page_bytes + huge_bytes / huge_page_bytes"
#define SHARE_RESIDENT_LAWS                                                                                            \
    "random-write.minor_faults == 0; index-only.minor_faults == 0; clear.minor_faults == 0; random-read.minor_faults == 0"
/* Shared is what the other side sees: b reads the number that a wrote and a the one that b wrote, b reads what a's
 * first-touch left in every page, and a finds both of b's stores in every page. */
#define SHARE_SEEN_LAWS                                                                                                \
    "b.number_seen == number; number_seen == b.number; b.marks_seen == bytes / page_bytes; "                           \
    "b_stores_seen == 2 * bytes / page_bytes"
/* The second process has its own page tables, so it faults; by reading perhaps several pages at once (fault-around). Four
 * more are what write-back may protect between a fault and its store. What is populated faults no more.
 * `b.runtime_faults`: what threads of b's language may add; none in C. */
#define SHARE_SECOND_LAWS                                                                                              \
    SHARE_SEEN_LAWS "; first-read.minor_faults + first-read.major_faults >= 1; "                                       \
    "first-read.minor_faults + first-read.major_faults <= bytes / page_bytes + b.runtime_faults; "                     \
    "first-write.minor_faults + first-write.major_faults >= 1; "                                                       \
    "first-write.minor_faults + first-write.major_faults <= bytes / page_bytes + 4 + b.runtime_faults; "               \
    "b.faults_after_populate <= b.runtime_faults"
/* In memory, a first store is one fault a page that is mapped by it, and a page once mapped is never protected again. */
#define SHARE_SECOND_MEMORY_LAWS                                                                                       \
    "write-after-read.minor_faults <= b.runtime_faults; first-write.minor_faults + first-write.major_faults >= "       \
    "(bytes - b.huge_bytes) / page_bytes + b.huge_bytes / huge_page_bytes; first-write.minor_faults + "                \
    "first-write.major_faults <= (bytes - b.huge_bytes) / page_bytes + b.huge_bytes / huge_page_bytes + b.runtime_faults"
#define SHARE_OTHER_LAWS "backed_as_named == 1; " SHARE_RESIDENT_LAWS "; " SHARE_CONTENT_LAWS
#define SHARE_ALONE_LAWS SHARE_TOUCH_LAW "; " SHARE_OTHER_LAWS
#define SHARE_FORKED_LAWS SHARE_ALONE_LAWS "; " SHARE_SECOND_LAWS "; " SHARE_SECOND_MEMORY_LAWS
#define SHARE_LAWS SHARE_FORKED_LAWS "; " PIN_LAWS
/* The region is there once, however many have it: each side is charged with a half. */
#define SHARE_MEMORY "bytes / 2 + bytes / 8"

/* Before the map phase: checks the cell, starts the load. Where there are two sides, both come to hear of an obstacle. */
void share_begin(struct slot *s, const char *obstacle);
void share_begin_alone(struct slot *s);
/* After the map phase of side a: b is told whether it can go on. NULL: nothing is in its way. */
void share_mapped(struct slot *s, const char *obstacle);
/* Proves by /proc/self/maps that the mapping is backed by what `backing` is part of; side a, after the map phase. */
void share_proof(struct slot *s, const char *p, const char *backing);
/* Side a: the phases from first-touch to random-read and the check of each, and in between b's turn. `name` is removed once
 * b is done with it (NULL: it has none). */
void share_use(struct slot *s, char *p, const char *name);
/* The same in steps, for a method that runs something beside random-write, or is alone. */
void share_touch(struct slot *s, char *p);
void share_with_b(struct slot *s, char *p, const char *name);
void share_write(struct slot *s, char *p);
void share_check_clear_read(struct slot *s, char *p);

/* The second process's place at the memory. A method's attach() fills in `p`, from the fields that it needs. Without `at` the
 * kernel chooses, as for most programs: beside other mappings, whose page table is there. */
struct seat {
    char *at, *p;
    size_t bytes;
    int descriptor, id, left; /* left: what detach() or attach()'s close returned, 0 where all is gone */
    char name[4096];
    const char *call;   /* what attach() calls last, for messages */
};
typedef void seat_work(struct seat *);
/* Side b before it attaches: checks the cell together with a, and hears whether a could map. */
struct seat share_begin_b(struct slot *s, const char *obstacle);
/* All of b's phases; `attach` is called once before the first, and both again for each phase that needs a fresh mapping. */
void share_second(struct slot *s, struct seat *b, seat_work *attach, seat_work *detach);
void seat_map(struct seat *b);   /* mmap of b->descriptor */
void seat_unmap(struct seat *b); /* munmap */
/* The steps of share_second(), for a second process that inherits the memory and cannot attach it again. */
void second_read(struct slot *s, struct seat *b);
void second_write(struct slot *s, struct seat *b);
void second_populate(struct slot *s, struct seat *b);
/* What side a finds of b's stores and number, and puts back as it was. */
void first_number(struct slot *s, char *p);
void first_finds(struct slot *s, char *p);

/* backing.c. Says in words why the file system of `fd` has no room (a store into a full one would be a SIGBUS), and fails. */
void share_check_room(struct slot *s, int fd);
bool share_has_room(struct slot *s, int fd);
/* Records the kind of file system as a fact; true for one that lives in memory. */
bool share_in_memory(struct slot *s, int fd);
/* A shmget() that failed, with the limit that it met: one segment's size, or how much all of them may be. */
const char *share_no_segment(struct slot *s);
/* The words where `bytes` are no whole number of huge pages (or NULL), and for an empty pool. */
const char *share_check_huge(struct slot *s);
const char *share_empty_pool(struct slot *s);

/* load.c: `load=25%`, another process that takes that share of one CPU. */
void load_start(struct slot *s);
void load_stop(struct slot *s);
#endif
