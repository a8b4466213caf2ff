#include "prefault.h"

static SHARED_BODY void run(struct slot *s, int advice, void (*fill)(const struct part *))
{
    struct memory m = prefault_begin(s, advice, 0);
    size_t bytes = s->bytes, there;
    char *p, mark = page_mark(s);
    int advised = 0;
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        advised = there ? madvise(p, bytes, advice) : 0;
        on_every_thread(s, fill, p, there, mark);
    }
    prefault_populated(s, p, "mmap");
    prefault_advised(s, advised, advice);
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

#define BASE_LAWS "populate.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS
#define HUGE_FILL_LAWS                                                                                                 \
    HUGE_FAULT_LAW "; " HUGE_LEAST_LAWS "; " NO_FAULT_TO_PIN "; " HUGE_BACKING_LAWS "; " PREFAULT_LAWS
#define FILL_CALLS "populate:mmap,madvise" TEARDOWN_CALLS

static void base_touch(struct slot *s) { run(s, MADV_NOHUGEPAGE, touch_pages); }
METHOD(prefault_touch, .experiment = "prefault", .name = "touch",
       .summary = "Map, then write one byte to each base page; huge pages are forbidden.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, EVERY_PIN), .memory = PREFAULT_MEMORY, .laws = BASE_LAWS,
       .calls = FILL_CALLS, .run = base_touch);

static void base_memset(struct slot *s) { run(s, MADV_NOHUGEPAGE, clear_part); }
METHOD(prefault_memset, .experiment = "prefault", .name = "memset",
       .summary = "Map, then write zeros over all of it with memset; huge pages are forbidden.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, EVERY_PIN), .memory = PREFAULT_MEMORY, .laws = BASE_LAWS,
       .calls = FILL_CALLS, .run = base_memset);

static void huge_touch(struct slot *s) { run(s, MADV_HUGEPAGE, touch_pages); }
METHOD(prefault_thp, .experiment = "prefault", .name = "thp",
       .summary = "Permit transparent huge pages by MADV_HUGEPAGE, then write one byte to each base page: a fault a huge page.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(HUGE_SHARING, EVERY_PIN),
       .memory = PREFAULT_MEMORY, .backing_huge = true,
       .laws = HUGE_FILL_LAWS, .calls = FILL_CALLS, .run = huge_touch);

static void huge_memset(struct slot *s) { run(s, MADV_HUGEPAGE, clear_part); }
METHOD(prefault_thp_memset, .experiment = "prefault", .name = "thp-memset",
       .summary = "Permit transparent huge pages by MADV_HUGEPAGE, then write zeros over all of it with memset.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(HUGE_SHARING, EVERY_PIN),
       .memory = PREFAULT_MEMORY, .backing_huge = true,
       .laws = HUGE_FILL_LAWS, .calls = FILL_CALLS, .run = huge_memset);
