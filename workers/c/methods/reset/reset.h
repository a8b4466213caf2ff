/* What the `reset` methods share: a region that begins as zeros or as an image each time, its use, the cycles, PAGEMAP_SCAN. */
#ifndef PAGEWISE_RESET_H
#define PAGEWISE_RESET_H
#include "others.h"
#include <sys/ioctl.h>

#define RESET_PHASES "use reset others-owe"
#define RESET_KEYS                                                                                                     \
    "bytes:size dirty:count scatter:run|spread image:zero|pattern read:none|same history:same|whole pages:small|huge "     \
    "running:count"
#define SHARED_KEYS RESET_KEYS " threads:count"
#define SCAN_KEYS RESET_KEYS " regions:count"
/* Everything is the image again, although each page that should be dirty was, in the pages asked for. */
#define RESET_LAWS                                                                                                     \
    "wrong_words == 0; used_pages == dirty_pages; cpus == running; dirty_pages >= dirty * (bytes / page_bytes) / 100; "    \
    "100 * dirty_pages <= dirty * (bytes / page_bytes) + 100; scatter=run: runs == 1; use.major_faults == 0; "           \
    "pages=small: huge_bytes == 0; " \
    "running>=2: other_passes >= 1; running>=2: foreign_on_cpu_permille >= 500"
/* Nothing was taken away: neither phase has a page to find. */
#define HUGE_LAW "; pages=huge: huge_bytes >= huge_page_bytes"
#define KEPT_LAWS RESET_LAWS HUGE_LAW "; reset.minor_faults == 0; use.minor_faults == 0"
/* Pages that were taken away are the next use's faults; where an image was copied over them, they are the reset's. */
#define DISCARD_LAWS                                                                                                   \
    RESET_LAWS HUGE_LAW "; image=zero: rss_bytes == 0; image=zero & pages=small: use.minor_faults == dirty_pages + read_pages"     \
               "; image=zero & pages=huge: use.minor_faults >= 1"                                                      \
    "; image=zero & pages=huge: use.minor_faults <= 2 * (bytes / huge_page_bytes)"                                     \
               "; image=pattern: use.minor_faults == 0"                                                                \
               "; image=pattern & pages=small: reset.minor_faults == bytes / page_bytes"                               \
               "; image=pattern & pages=huge: reset.minor_faults == bytes / huge_page_bytes"
/* Where most calls that take something away interrupt the other CPUs, this one has. */
#define SHOOTDOWN_LAW                                                                                                  \
    "; running>=2 & interrupts_seen == 1 & foreign_on_cpu_permille>=900: foreign_shootdowns >= 1"

struct region {
    char *p;
    size_t bytes, page;
    const char *image;              /* NULL: zeros */
    bool huge;                      /* to be had in huge pages */
    int file;                       /* the image as a sealed memory file; -1 where it is zeros and no method asked for a file */
    uint32_t *dirty, *read;         /* numbers of the pages that a use writes to and reads from, ascending */
    size_t dirty_pages, read_pages;
    uint64_t word;                  /* written to each dirty page */
    size_t used;                    /* dirty pages that held it after the last warm use */
    size_t restored, scans, found;  /* of the last reset: bytes written, scanning calls, regions that these found */
    const char *failed;             /* the call that did, in use or reset; `error` is what it answered */
    int error;
    bool timed;                     /* this is the measured cycle */
    struct others *others;
    void *own;                      /* the method's */
    struct slot *slot;              /* whose threads share a reset */
};

/* Anonymous memory; the same in base pages, as the kernel tracks them; anonymous memory for zeros and a private mapping of any
 * other image; a private mapping of the image always. */
enum backing { ANONYMOUS, TRACKED, OVER_IMAGE, OVER_FILE };
struct region region_begin(struct slot *s, enum backing backing);
void region_end(struct region *r);
void region_use(struct region *r);
size_t region_used(const struct region *r); /* dirty pages that hold what a use writes */
void region_map(struct region *r, int more_flags); /* anonymous memory at the region's place, advised as it is to be */
void region_lost(struct region *r, const char *call);
/* Six warm cycles, then one in the phases use and reset while the other threads run; facts, digest, the phase others-owe. */
void reset_cycles(struct slot *s, struct region *r, void (*reset)(struct region *));
void reset_cycles_by(struct slot *s, struct region *r, void (*use)(struct region *), void (*reset)(struct region *));

/* Puts a part of the region back. */
__attribute__((unused)) static void restore(struct region *r, char *at, size_t bytes)
{
    if (r->image)
        memcpy(at, r->image + (at - r->p), bytes);
    else
        memset(at, 0, bytes);
    r->restored += bytes;
}

/* After a discard: anonymous memory is zeros by itself, an image has to be copied. */
__attribute__((unused)) static void restore_image(struct region *r)
{
    if (r->image)
        restore(r, r->p, r->bytes);
}

/* Puts back the pages that a method has noted, one by one. */
__attribute__((unused)) static void restore_noted(struct region *r, const uint32_t *noted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        restore(r, r->p + (size_t)noted[i] * r->page, r->page);
}

void need_base_pages(struct slot *s); /* skips pages=huge */
/* For methods that go by ranges; skips where there are not as many pages. */
enum { RANGES = 16 };
void need_ranges(struct slot *s);

/* PAGEMAP_SCAN of Linux 6.7 (Documentation/admin-guide/mm/pagemap.rst); the C library's headers may lack it. */
struct scan_argument {
    uint64_t size, flags, start, end, walk_end, regions, region_count, page_limit;
    uint64_t inverted, all_of, any_of, returned;
};
struct scan_region {
    uint64_t start, end, categories;
};
#define SCAN_PAGES _IOWR('f', 16, struct scan_argument)
enum { SCAN_PROTECT = 1, SCAN_CHECK_ASYNC = 2 };
enum { PAGE_WRITTEN = 2, PAGE_FILE = 4, PAGE_PRESENT = 8, PAGE_ZERO = 32 };
struct scan {
    int pagemap, userfault;
    struct scan_region *regions;
    size_t room;                    /* `regions` of the cell */
};
struct scan scan_open(struct slot *s, struct region *r); /* skips where the kernel cannot scan */
void scan_close(struct slot *s, const struct region *r); /* records what the last reset found */
/* One call from `start` on, and its pages put back: regions, or -1. `walk_end` is its end: Linux 6.18 may say less
 * than the end of the last region (every second page of 32 MiB: 4096 regions, and a `walk_end` 4 MiB before the end). */
__attribute__((unused)) static long scan_and_restore(struct region *r, struct scan_argument *a, char *start)
{
    const struct scan *scan = r->own;
    a->size = sizeof *a;
    a->start = (uintptr_t)start;
    a->end = (uintptr_t)r->p + r->bytes;
    a->regions = (uintptr_t)scan->regions;
    a->region_count = scan->room;
    r->scans++;
    long count = ioctl(scan->pagemap, SCAN_PAGES, a);
    if (count < 0)
        region_lost(r, "ioctl PAGEMAP_SCAN");
    for (long i = 0; i < count; i++)
        restore(r, (char *)(uintptr_t)scan->regions[i].start, scan->regions[i].end - scan->regions[i].start);
    if (count > 0 && a->walk_end < scan->regions[count - 1].end)
        a->walk_end = scan->regions[count - 1].end;
    r->found += count > 0 ? (size_t)count : 0;
    return count;
}
#endif
