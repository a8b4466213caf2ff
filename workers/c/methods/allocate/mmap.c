#include "allocate.h"

static void *get_populated(struct slot *s)
{
    struct place place = mapping_place(s);
    return mmap(place.at, whole_pages(s), PROT_READ | PROT_WRITE, place.flags | MAP_POPULATE, -1, 0);
}

static SHARED_BODY void run(struct slot *s, int populate, char value)
{
    allocate_begin(s);
    size_t bytes = s->bytes, mapped = whole_pages(s);
    struct place place = mapping_place(s);
    char *p, mark = refill_mark(s);
    struct before last = allocate_before(s, populate ? get_populated : get_mapping, give_unmap);
    PHASE(s, "allocate") {
        p = last.block;
        if (!last.kept && p)
            munmap(p, mapped);
        if (!last.kept)
            p = mmap(place.at, mapped, PROT_READ | PROT_WRITE, place.flags | populate, -1, 0);
    }
    allocate_check(s, p, "mmap");
    PARALLEL_PHASE(s, "fill") { on_every_thread(s, set_part, p, bytes, value); }
    allocate_mapping(s, p);
    allocate_filled(s, p, value, false);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    int left;
    PHASE(s, "free") { left = munmap(p, mapped); }
    check_done(s, left, "munmap");
    allocate_end(s);
}

static void ones(struct slot *s) { run(s, 0, 1); }
METHOD(allocate_mmap_touch, .experiment = "allocate", .name = "mmap-touch",
       .summary = "An anonymous private mapping, every byte set to 1.",
       .phases = ALLOCATE_PHASES, .keys = MAPPED_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " MMAP_FAULT_LAWS("fill") "; " BACKING_LAWS("fill"),
       .calls = "allocate:mmap?,munmap? free:munmap", .run = ones);

static void zeros(struct slot *s) { run(s, 0, 0); }
METHOD(allocate_mmap_zero, .experiment = "allocate", .name = "mmap-zero",
       .summary = "An anonymous private mapping, every byte set to 0: what malloc-zero does, without malloc.",
       .phases = ALLOCATE_PHASES, .keys = MAPPED_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " MMAP_FAULT_LAWS("fill") "; " BACKING_LAWS("fill"),
       .calls = "allocate:mmap?,munmap? free:munmap", .run = zeros);

static void populate(struct slot *s) { run(s, MAP_POPULATE, 0); }
METHOD(allocate_mmap_populate, .experiment = "allocate", .name = "mmap-populate",
       .summary = "An anonymous private mapping, faulted in within the call by MAP_POPULATE, then set to 0.",
       .phases = ALLOCATE_PHASES, .keys = MAPPED_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " MAPPED_LAWS "; reuse=first & base_pages_only == 1: allocate.minor_faults == " PAGES "; "
               "reuse=first: allocate.minor_faults >= 1; fill.minor_faults == 0; fill.rss_bytes == " PAGES " * page_bytes; "
               "reuse=first & bytes >= 1048576: "
               GIVEN_BACK "; " BACKING_LAWS("allocate"),
       .calls = "allocate:mmap?,munmap? free:munmap", .run = populate);
