/* The untimed halves of the Rust methods of `prefault`; pinning, the first use and the way back are the native worker's. */
#include "methods/prefault/prefault.h"
#include "rust.h"

IN_RUST void rust_touch_pages(const struct part *part);
IN_RUST int rust_populate_write(const struct part *part);

static void populate_part(const struct part *part)
{
    int error = part->bytes ? rust_populate_write(part) : 0;
    errno = error;
    prefault_note(error != 0);
}

static void run(struct slot *s, int advice, void (*fill)(const struct part *))
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
    prefault_lacks(s, EINVAL, NO_POPULATE_WRITE);
    prefault_populated(s, p, "madvise");
    prefault_advised(s, advised, advice);
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

static void touch(struct slot *s)
{
    run(s, MADV_NOHUGEPAGE, rust_touch_pages);
}

static void thp_populate(struct slot *s)
{
    run(s, MADV_HUGEPAGE, populate_part);
}

METHOD(rust_prefault_touch, .experiment = "prefault", .name = "touch",
       .summary = "Map, then write one byte to each base page by a slice's chunks_mut; huge pages are forbidden. Idiomatic.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, EVERY_PIN), .memory = PREFAULT_MEMORY,
       .laws = "populate.minor_faults == bytes / page_bytes; " BASE_ONLY_LAWS "; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS,
       .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = touch);

METHOD(rust_prefault_thp_populate, .experiment = "prefault", .name = "thp-populate",
       .summary = "Permit transparent huge pages, then MADV_POPULATE_WRITE as the crate memmap2 calls it, each thread its part.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(HUGE_SHARING, EVERY_PIN),
       .memory = PREFAULT_MEMORY, .backing_huge = true,
       .laws = HUGE_FAULT_LAW "; " HUGE_LEAST_LAWS "; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS,
       .calls = "populate:mmap,madvise" TEARDOWN_CALLS, .run = thp_populate);
