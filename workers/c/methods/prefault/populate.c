#include "prefault.h"

static SHARED_BODY char *map_filled(struct slot *s, int flag)
{
    char *at = prefault_begin(s, MADV_NOHUGEPAGE, 0).at;
    size_t bytes = s->bytes;
    map_part_flags = flag;
    /* No advice can come before the call populates, so huge pages are forbidden to the process. */
    forbid_huge_pages(s, true);
    PARALLEL_PHASE(s, "populate") { on_every_thread(s, map_part, at, bytes, 0); }
    forbid_huge_pages(s, false);
    if (flag == MAP_LOCKED)
        prefault_locked(s, "mmap(MAP_LOCKED)");
    prefault_populated(s, at, "mmap");
    return at;
}

#define MAP_LAWS "populate.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS

static void map_populate(struct slot *s)
{
    char *p = map_filled(s, MAP_POPULATE);
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}
METHOD(prefault_populate, .experiment = "prefault", .name = "populate",
       .summary = "Map with MAP_POPULATE, each thread its own part: the kernel faults every base page in within the call.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, EVERY_PIN), .memory = PREFAULT_MEMORY, .laws = MAP_LAWS,
       .calls = "populate:mmap" TEARDOWN_CALLS, .run = map_populate);

static void map_locked(struct slot *s)
{
    char *p = map_filled(s, MAP_LOCKED);
    PHASE(s, "pin") { }
    prefault_rest(s, p, false);
}
METHOD(prefault_map_locked, .experiment = "prefault", .name = "map-locked",
       .summary = "Map with MAP_LOCKED, each thread its own part: populated and locked by one call, which fails in silence where "
                  "memory is short.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, "lock"), .memory = PREFAULT_MEMORY, .laws = MAP_LAWS,
       .calls = "populate:mmap" TEARDOWN_CALLS, .run = map_locked);

static size_t chunk; /* of populate_chunks() */

static void populate_chunks(const struct part *part)
{
    size_t step = chunk;
    for (size_t at = 0; at < part->bytes; at += step) {
        size_t left = part->bytes - at;
        prefault_note(madvise(part->start + at, left < step ? left : step, MADV_POPULATE_WRITE) != 0);
    }
}

static SHARED_BODY void run(struct slot *s, int advice, void (*populate)(const struct part *))
{
    struct memory m = prefault_begin(s, advice, 0);
    chunk = key_size(s, "chunk");
    if (chunk % s->page_bytes != 0)
        skip(s, "chunk is not a multiple of the page size");
    char *p;
    size_t bytes = s->bytes, there;
    int advised = 0;
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        advised = there ? madvise(p, bytes, advice) : 0;
        on_every_thread(s, populate, p, there, 0);
    }
    prefault_lacks(s, EINVAL, NO_POPULATE_WRITE);
    prefault_populated(s, p, "madvise");
    prefault_advised(s, advised, advice);
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

static void whole(struct slot *s) { run(s, MADV_NOHUGEPAGE, populate_write_part); }
METHOD(prefault_populate_write, .experiment = "prefault", .name = "populate-write",
       .summary = "Map, then fault base pages in by MADV_POPULATE_WRITE, one call for each thread's part.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, EVERY_PIN), .memory = PREFAULT_MEMORY,
       .laws = "populate.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS,
       .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = whole);

static void in_chunks(struct slot *s) { run(s, MADV_NOHUGEPAGE, populate_chunks); }
METHOD(prefault_populate_write_chunks, .experiment = "prefault", .name = "populate-write-chunks",
       .summary = "Map, then fault base pages in by MADV_POPULATE_WRITE in chunks, so that others get the mmap lock between them.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, EVERY_PIN) " chunk:size", .memory = PREFAULT_MEMORY,
       .laws = "populate.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS,
       .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = in_chunks);

static void huge_pages(struct slot *s) { run(s, MADV_HUGEPAGE, populate_write_part); }
METHOD(prefault_thp_populate, .experiment = "prefault", .name = "thp-populate",
       .summary = "Permit transparent huge pages, then fault them in by MADV_POPULATE_WRITE, one call for each thread's part.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(HUGE_SHARING, EVERY_PIN),
       .memory = PREFAULT_MEMORY, .backing_huge = true,
       .laws = HUGE_FAULT_LAW "; " HUGE_LEAST_LAWS "; " NO_FAULT_TO_PIN "; " HUGE_BACKING_LAWS "; " PREFAULT_LAWS,
       .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = huge_pages);
