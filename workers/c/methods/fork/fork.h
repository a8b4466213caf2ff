/* What the `fork` methods share: a parent with resident memory, the program that children become, the loop that writes. */
#ifndef PAGEWISE_FORK_H
#define PAGEWISE_FORK_H
#include "worker.h"
#include <signal.h>
#include <sys/wait.h>

#define FORK_PHASES "start reap write"
#define FORK_KEYS "bytes:size pages:small|huge"
#define PROGRAM_KEYS FORK_KEYS " program:tiny|dynamic"
#define COPY_KEYS FORK_KEYS " every:page|huge"
#define COPY_GROUP "copy-on-write"
/* The memory is there as asked for, and holds what it must. */
#define PARENT_LAWS                                                                                                    \
    "pages=small: huge_bytes == 0; pages=huge: huge_bytes == bytes; wrong_pages == 0"
/* The program ran and said so. */
#define PROGRAM_LAWS PARENT_LAWS "; program=tiny: exit_status == 42; program=dynamic: exit_status == 0"
/* A child that gets page tables of its own leaves each page of the parent write-protected: its next write is a fault. One
 * page of 5 million had a second one here; a page that the kernel moves meanwhile would. */
#define COPIED_LAWS                                                                                                    \
    PROGRAM_LAWS "; pages=small: write.minor_faults >= bytes / page_bytes"                                             \
                 "; pages=small: write.minor_faults <= bytes / page_bytes + 4"                                         \
                 "; pages=huge: write.minor_faults >= bytes / huge_page_bytes"                                         \
                 "; pages=huge: write.minor_faults <= bytes / page_bytes"
#define SHARED_LAWS PROGRAM_LAWS "; write.minor_faults == 0"
/* The child's page tables: an entry of 8 bytes for each base page, which is 2 bytes a KiB, and those of the worker itself. Huge
 * pages save nothing: the kernel keeps a table in reserve for each of them. */
#define TABLE_LAWS                                                                                                     \
    PARENT_LAWS "; child_table_bytes >= 8 * (bytes / page_bytes)"                                                      \
                "; child_table_bytes <= 8 * (bytes / page_bytes) + 1048576"
/* One fault and one copy for each byte written; what a kernel copies for a byte in a huge page is its own affair. */
#define COPY_LAWS                                                                                                      \
    TABLE_LAWS "; pages=small: copied_bytes == written * page_bytes"                                                   \
               "; pages=huge: copied_bytes >= written * page_bytes; copied_bytes <= bytes"

struct parent {
    char *p;               /* `bytes`, resident; each page begins with `mark` */
    size_t bytes, stride;  /* one byte is written every `stride` */
    char mark;
};

/* The memory is kept from slot to slot, made anew where its huge pages were split. */
struct parent parent_begin(struct slot *s);
/* Pages that do not begin with what they must: `now` every `stride` bytes, the mark of before elsewhere. */
size_t wrong_pages(const struct slot *s, const struct parent *parent, char now);
/* Records wrong_pages; the memory's mark is `now` from here on. */
void parent_end(struct slot *s, const struct parent *parent, char now);
void check_child(struct slot *s, pid_t child, const char *call); /* after the call that makes a child */
void exit_fact(struct slot *s, int status);
uint64_t page_table_bytes(struct slot *s);                            /* this process's page tables (VmPTE) */

/* The measured loop: one byte every `stride`. */
__attribute__((unused)) static void write_each(const struct parent *parent, char mark)
{
    volatile char *p = parent->p;
    size_t bytes = parent->bytes, stride = parent->stride;
    for (size_t i = 0; i < bytes; i += stride)
        p[i] = mark;
}

/* A child that lives while its parent writes (live.c). */
struct live {
    pid_t pid;
    int ours, theirs; /* ends of a socket */
};
void live_open(struct slot *s, struct live *live);
__attribute__((noreturn)) void live_child(struct slot *s, const struct parent *parent, struct live *live);
void live_ready(struct slot *s, struct live *live);   /* waits until the child has looked at its page tables */
void live_check(struct slot *s, struct live *live);   /* has the child check that its memory is the old one */
#endif
