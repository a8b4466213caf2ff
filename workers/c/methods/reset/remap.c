#include "reset.h"

static void map_over(struct region *r)
{
    region_map(r, MAP_FIXED);
    if (!r->failed)
        restore_image(r);
}

static void unmap_and_map(struct region *r)
{
    if (munmap(r->p, r->bytes) != 0)
        region_lost(r, "munmap");
    else
        region_map(r, MAP_FIXED_NOREPLACE);
    if (!r->failed)
        restore_image(r);
}

static void drop_copies(struct region *r)
{
    if (madvise(r->p, r->bytes, MADV_DONTNEED) != 0)
        region_lost(r, "madvise");
}

static SHARED_BODY void run(struct slot *s, enum backing backing, void (*reset)(struct region *))
{
    struct region r = region_begin(s, backing);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

static void over(struct slot *s) { run(s, ANONYMOUS, map_over); }
METHOD(reset_map_over, .experiment = "reset", .name = "map-over",
       .summary = "mmap(MAP_FIXED) over what is there: the old mapping goes and the new one comes in one call.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:mmap,madvise?", .run = over);

static void anew(struct slot *s) { run(s, ANONYMOUS, unmap_and_map); }
METHOD(reset_remap, .experiment = "reset", .name = "remap",
       .summary = "munmap() and mmap() at the same place: pages, page tables and the mapping are made anew.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = DISCARD_LAWS SHOOTDOWN_LAW, .calls = "reset:munmap,mmap,madvise?", .run = anew);

static void copied_on_write(struct slot *s) { run(s, OVER_FILE, drop_copies); }
METHOD(reset_memfd_cow, .experiment = "reset", .name = "memfd-cow",
       .summary = "A private mapping of a sealed memory file: MADV_DONTNEED drops the copied pages, and the image shows again.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS SHOOTDOWN_LAW "; rss_bytes == 0; reset.minor_faults == 0; use.minor_faults >= dirty_pages; "
               "use.minor_faults <= dirty_pages + read_pages; restored_bytes == 0",
       .calls = "reset:madvise", .run = copied_on_write);
