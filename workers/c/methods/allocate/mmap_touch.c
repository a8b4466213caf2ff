#include "allocate.h"

static void run(struct slot *s)
{
    allocate_begin(s);
    size_t bytes = s->bytes, mapped = whole_pages(s);
    struct place place = mapping_place(s);
    char *p, mark = refill_mark(s);
    struct before last = allocate_before(s, get_mapping, give_unmap);
    PHASE(s, "allocate") {
        p = last.block;
        if (!last.kept && p)
            munmap(p, mapped);
        if (!last.kept)
            p = mmap(place.at, mapped, PROT_READ | PROT_WRITE, place.flags, -1, 0);
    }
    allocate_check(s, p, "mmap");
    PARALLEL_PHASE(s, "fill") { on_every_thread(s, set_part, p, bytes, 1); }
    allocate_mapping(s, p);
    allocate_filled(s, p, 1, false);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    int left;
    PHASE(s, "free") { left = munmap(p, mapped); }
    check_done(s, left, "munmap");
    allocate_end(s);
}

METHOD(allocate_mmap_touch, .experiment = "allocate", .name = "mmap-touch",
       .summary = "An anonymous private mapping, every byte set to 1.",
       .phases = ALLOCATE_PHASES, .keys = MAPPED_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " MMAP_FAULT_LAWS("fill") "; " BACKING_LAWS("fill"),
       .calls = "allocate:mmap?,munmap? free:munmap", .run = run);
