/* What the methods of single kinds of fault share: reading instead of writing, whole pages, memory that is looked at. */
#ifndef PAGEWISE_FAULT_KINDS_H
#define PAGEWISE_FAULT_KINDS_H
#include "fault.h"

#define KIND_KEYS "bytes:size threads:count processes:count backing:recycled|cold idle_ms:count frames:cached|memory|swept"
#define KIND_LAWS THREADS_LAWS "; " EMPTIED_LAWS
#define READ_GROUP "read"             /* fresh memory is read, not written */
#define WHOLE_GROUP "whole-page"      /* every byte of fresh memory is written */
#define THERE_GROUP "there-already"   /* the pages exist, only this mapping of them is new, or was write-protected */
#define LOCKED_GROUP "locked"         /* the memory may not be taken back */
#define GUARD_GROUP "guard"
#define USERFAULTFD_GROUP "userfaultfd"
#define FAULT_A_PAGE(phase) phase ".minor_faults == bytes / page_bytes"

/* One byte of each base page is read; the sum goes where no compiler can leave the loads out. */
void read_pages(const struct part *part);
uint64_t nonzero_bytes(const struct slot *s, const char *p); /* 0 in a round without proofs */
/* Untimed: memory that was only read is written to, so that the digest tells whose it is and that the rest was zero. */
void written_after(struct slot *s, char *p);
char *kind_map(struct slot *s, bool huge);           /* phases map and advise of private memory; nothing is there after them */
void kind_unmap(struct slot *s, char *p);            /* phase unmap */
uint64_t smaps_bytes(struct slot *s, const char *p, const char *row); /* one row of smaps, such as "Locked" */
uint64_t number_in(const char *path, uint64_t otherwise); /* a file of one number */

/* A file with a mark at each page's start, all of it in the page cache. `disk`: in the launch's directory, without a name, and
 * skipped where nothing is ever written back from there; otherwise a memory file. */
struct kind_file {
    int descriptor;
    char *p; /* its mapping, by map_file() */
};
struct kind_file kind_file(struct slot *s, bool disk);
void map_file(struct slot *s, struct kind_file *file, int protection); /* phase map */
#endif
