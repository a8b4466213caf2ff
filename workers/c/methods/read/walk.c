/* See walk.h and pcap-savefile(5). */
#include "walk.h"
#include "words.h"
#include <string.h>

static uint32_t little32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

const char *walk_begin(struct walk *w, const unsigned char *start, size_t bytes)
{
    *w = (struct walk){.skip = WALK_FILE_HEADER};
    if (bytes < WALK_FILE_HEADER)
        return "the file is shorter than the 24 bytes that a pcap file begins with";
    uint32_t magic = little32(start), snap_bytes = little32(start + 16);
    if (magic == 0x0a0d0d0a)
        return "the file is in pcapng format: convert it by editcap -F pcap, or take consume=sum";
    w->swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
    if (!w->swapped && magic != 0xa1b2c3d4 && magic != 0xa1b23c4d)
        return "the file is not a pcap file (its first four bytes are no pcap magic): take consume=sum";
    snap_bytes = w->swapped ? __builtin_bswap32(snap_bytes) : snap_bytes;
    /* libpcap believes lengths up to 262144, and larger snapshot lengths up to 128 MiB. */
    w->limit = snap_bytes > 262144 ? (snap_bytes < (128u << 20) ? snap_bytes : 128u << 20) : 262144;
    return NULL;
}

/* Mixes a record's header and the sum of its payload. Every step can be undone, so a change of any one of the three changes
 * the result. Results are added up with odd weights that differ from record to record: whoever knows a record's number can
 * begin there, and exchanged records are noticed. */
__attribute__((always_inline)) static inline uint64_t mix(uint64_t number, uint64_t first, uint64_t second, uint64_t payload)
{
    uint64_t sum = first * 0x9E3779B97F4A7C15u;
    sum = ((sum << 23 | sum >> 41) ^ second) * 0xBF58476D1CE4E5B9u;
    sum = ((sum << 29 | sum >> 35) ^ payload) * 0x94D049BB133111EBu;
    return (sum ^ sum >> 32) * (2 * number + 1);
}

/* Adds what has come of a payload that a piece's end cuts; a word that is cut waits for its rest. */
static void add_payload(struct walk *w, const unsigned char *p, size_t bytes)
{
    if (w->part_bytes) {
        size_t missing = sizeof w->part - w->part_bytes, there = bytes < missing ? bytes : missing;
        memcpy(w->part + w->part_bytes, p, there);
        w->part_bytes += (unsigned)there;
        if (w->part_bytes < sizeof w->part)
            return;
        w->payload_sum += sum_words(w->part, sizeof w->part);
        p += there;
        bytes -= there;
    }
    size_t whole = bytes & ~(sizeof w->part - 1);
    w->payload_sum += sum_words(p, whole);
    w->part_bytes = (unsigned)(bytes - whole);
    memcpy(w->part, p + whole, bytes - whole);
}

/* Walks whole headers from `p` on; returns where it stopped: at a cut header, at the end, or at damage. */
__attribute__((always_inline)) static inline const unsigned char *
walk_headers(struct walk *w, const unsigned char *p, const unsigned char *end, bool swapped, bool payload)
{
    uint64_t records = w->records, record_bytes = w->record_bytes, sum = w->fold, words[2];
    uint32_t limit = w->limit, bytes;
    while ((size_t)(end - p) >= WALK_RECORD_HEADER) {
        memcpy(words, p, sizeof words);
        memcpy(&bytes, p + 8, sizeof bytes);
        if (swapped)
            bytes = __builtin_bswap32(bytes);
        if (bytes > limit) {
            w->damaged = true;
            w->wrong_bytes = bytes;
            break;
        }
        if (bytes > (size_t)(end - p) - WALK_RECORD_HEADER) {
            w->skip = bytes - ((size_t)(end - p) - WALK_RECORD_HEADER);
            w->current_bytes = bytes;
            memcpy(w->current, words, sizeof words);
            if (payload)
                add_payload(w, p + WALK_RECORD_HEADER, (size_t)(end - p) - WALK_RECORD_HEADER);
            p = end;
            break;
        }
        sum += mix(records, words[0], words[1], payload ? sum_words(p + WALK_RECORD_HEADER, bytes) : 0);
        record_bytes += bytes;
        records++;
        p += WALK_RECORD_HEADER + bytes;
    }
    w->records = records;
    w->record_bytes = record_bytes;
    w->fold = sum;
    return p;
}

static const unsigned char *headers(struct walk *w, const unsigned char *p, const unsigned char *end)
{
    if (w->payload)
        return w->swapped ? walk_headers(w, p, end, true, true) : walk_headers(w, p, end, false, true);
    return w->swapped ? walk_headers(w, p, end, true, false) : walk_headers(w, p, end, false, false);
}

/* The record whose end has just come is complete; the file's header is none. */
static void complete(struct walk *w)
{
    if (!w->current_bytes)
        return;
    w->payload_sum += sum_words(w->part, w->part_bytes);
    w->fold += mix(w->records, w->current[0], w->current[1], w->payload_sum);
    w->payload_sum = 0;
    w->part_bytes = 0;
    w->record_bytes += w->current_bytes;
    w->records++;
    w->current_bytes = 0;
}

/* Takes what is missing of a header that the last piece cut. */
static const unsigned char *finish_header(struct walk *w, const unsigned char *p, const unsigned char *end)
{
    size_t missing = WALK_RECORD_HEADER - w->held, there = (size_t)(end - p) < missing ? (size_t)(end - p) : missing;
    memcpy(w->header + w->held, p, there);
    w->held += (unsigned)there;
    if (w->held < WALK_RECORD_HEADER)
        return end;
    headers(w, w->header, w->header + WALK_RECORD_HEADER);
    w->held = w->damaged ? WALK_RECORD_HEADER : 0;
    return p + there;
}

static const unsigned char *finish_skip(struct walk *w, const unsigned char *p, const unsigned char *end)
{
    size_t there = (size_t)(end - p) < w->skip ? (size_t)(end - p) : w->skip;
    w->skip -= there;
    if (w->payload && w->current_bytes)
        add_payload(w, p, there);
    if (!w->skip)
        complete(w);
    return p + there;
}

void walk_piece(struct walk *w, const unsigned char *data, size_t bytes)
{
    const unsigned char *p = data, *end = data + bytes;
    if (w->damaged)
        return;
    if (w->skip)
        p = finish_skip(w, p, end);
    if (w->held)
        p = finish_header(w, p, end);
    if (w->skip)
        p = finish_skip(w, p, end);
    if (p == end || w->damaged)
        return;
    p = headers(w, p, end);
    if (w->damaged)
        return;
    w->held = (unsigned)(end - p);
    memcpy(w->header, p, w->held);
}

uint64_t walk_cut_bytes(const struct walk *w)
{
    if (w->current_bytes)
        return WALK_RECORD_HEADER + w->current_bytes - w->skip;
    return w->skip ? WALK_FILE_HEADER - w->skip : w->held;
}

uint64_t walk_digest(const struct walk *w)
{
    return w->fold ^ w->records * 0x9E3779B97F4A7C15u ^ w->record_bytes;
}
