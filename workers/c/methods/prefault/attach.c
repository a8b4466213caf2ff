#include "prefault.h"

/* Another process made the memory and filled it: its pages are there, and only this mapping of them is new. */
static struct memory attach_begin(struct slot *s)
{
    struct memory m = prefault_prepare(s, MADV_NOHUGEPAGE, 0);
    char *p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.descriptor, 0);
    check_map(s, p);
    (void)madvise(p, s->bytes, MADV_NOHUGEPAGE);
    touch_pages(&(struct part){p, s->bytes, s->page_bytes, page_mark(s)});
    check_done(s, munmap(p, s->bytes), "munmap");
    neighbor_begin();
    return m;
}

static void populate_read_part(const struct part *part)
{
    prefault_note(part->bytes && madvise(part->start, part->bytes, MADV_POPULATE_READ) != 0);
}

static SHARED_BODY void run(struct slot *s, void (*bring)(const struct part *))
{
    struct memory m = attach_begin(s);
    size_t bytes = s->bytes, there;
    char *p;
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        on_every_thread(s, bring, p, there, 0);
    }
    prefault_lacks(s, EINVAL, "this kernel has no MADV_POPULATE_READ (Linux 5.14)");
    prefault_populated(s, p, "madvise");
    prefault_pin(s, p);
    prefault_rest(s, p, true);
}

#define ATTACH_GROUP "attach"
#define ATTACH_KEYS PREFAULT_KEYS("memfd|shm", "no|lock")
/* A fault of a read maps what is there around it as well. */
#define ATTACH_LAWS                                                                                                    \
    "populate.minor_faults >= 1; populate.minor_faults <= bytes / page_bytes; populate.major_faults == 0; "            \
    "rss_bytes == bytes; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS

static void by_reading(struct slot *s) { run(s, read_pages); }
METHOD(prefault_attach_touch, .experiment = "prefault", .name = "attach-touch", .group = ATTACH_GROUP,
       .summary = "Map shared memory that another process filled, then read one byte of each page.",
       .phases = PREFAULT_PHASES, .keys = ATTACH_KEYS, .memory = PREFAULT_MEMORY, .laws = ATTACH_LAWS,
       .calls = "populate:mmap" TEARDOWN_CALLS, .run = by_reading);

static void by_advice(struct slot *s) { run(s, populate_read_part); }
METHOD(prefault_attach_populate_read, .experiment = "prefault", .name = "attach-populate-read", .group = ATTACH_GROUP,
       .summary = "Map shared memory that another process filled, then MADV_POPULATE_READ, one call for each thread's part.",
       .phases = PREFAULT_PHASES, .keys = ATTACH_KEYS, .memory = PREFAULT_MEMORY, .laws = ATTACH_LAWS,
       .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = by_advice);

static void by_mapping(struct slot *s)
{
    struct memory m = attach_begin(s);
    size_t bytes = s->bytes;
    map_part_flags = MAP_POPULATE;
    PARALLEL_PHASE(s, "populate") { on_every_thread(s, map_part, m.at, bytes, 0); }
    prefault_populated(s, m.at, "mmap");
    prefault_pin(s, m.at);
    prefault_rest(s, m.at, true);
}
METHOD(prefault_attach_populate, .experiment = "prefault", .name = "attach-populate", .group = ATTACH_GROUP,
       .summary = "Map shared memory that another process filled with MAP_POPULATE, each thread its own part.",
       .phases = PREFAULT_PHASES, .keys = ATTACH_KEYS, .memory = PREFAULT_MEMORY, .laws = ATTACH_LAWS,
       .calls = "populate:mmap" TEARDOWN_CALLS, .run = by_mapping);
