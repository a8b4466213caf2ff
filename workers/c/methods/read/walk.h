/* The packet walk of `consume=records` (headers only) and `consume=payload` (headers and every byte of the packets): one small
 * record of a pcap file after another, over bytes that may come in pieces of any size. It includes nothing of the worker, so
 * that it can be fuzzed alone. */
#ifndef PAGEWISE_READ_WALK_H
#define PAGEWISE_READ_WALK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WALK_FILE_HEADER = 24, WALK_RECORD_HEADER = 16 };

struct walk {
    uint64_t records, record_bytes; /* complete records, and the captured bytes in them */
    uint64_t fold;                  /* of all that was used of every complete record */
    bool payload;                   /* the packets' bytes are used, not only their headers */
    uint64_t payload_sum;           /* of the words of the record being skipped that have come so far */
    unsigned part_bytes;            /* bytes of a payload word that was cut by the end of a piece */
    unsigned char part[8];
    size_t skip;                    /* bytes of the current record (or of the file's header) that are still to come */
    uint32_t current_bytes;         /* captured bytes of the record being skipped */
    uint64_t current[2];            /* its header */
    unsigned held;                  /* bytes of a header that was cut by the end of a piece */
    unsigned char header[WALK_RECORD_HEADER];
    bool swapped;                   /* written in the other byte order */
    uint32_t limit;                 /* longer records are no records (libpcap's rule) */
    bool damaged;                   /* such a length was met: the walk stopped there */
    uint32_t wrong_bytes;           /* and this was it */
};

/* Looks at the file's first 24 bytes; `payload` is set afterwards. NULL, or why the file cannot be walked. */
const char *walk_begin(struct walk *w, const unsigned char *start, size_t bytes);
/* Goes on with the next bytes of the file, from its first byte on. */
void walk_piece(struct walk *w, const unsigned char *data, size_t bytes);
/* Bytes at the end that belong to a record which is not complete: a capture that was cut. */
uint64_t walk_cut_bytes(const struct walk *w);
/* Of exactly the bytes that were used: the headers of all complete records, and their packets where `payload` says so. */
uint64_t walk_digest(const struct walk *w);
#endif
