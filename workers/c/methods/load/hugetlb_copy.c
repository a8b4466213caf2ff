#include "load.h"

/* The pool must hold all of it: a page that it lacks would be a SIGBUS. */
static void *hugetlb_tried(struct slot *s, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (p == MAP_FAILED)
        skip(s, "the pool of huge pages is too small; --allow-system-changes enlarges it (vm.nr_hugepages)");
    return p;
}

static void run(struct slot *s)
{
    need_memory(s);
    if (!s->huge_page_bytes)
        skip(s, NO_WHOLE_HUGE_PAGES);
    struct load l = load_begin(s);
    size_t huge = s->huge_page_bytes, bytes = (l.bytes + huge - 1) / huge * huge;
    if (munmap(hugetlb_tried(s, bytes), bytes) != 0)
        fail(s, "munmap");
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        l.p = mmap(l.place, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_FIXED_NOREPLACE, -1, 0);
        if (l.p == MAP_FAILED)
            load_lost(&l, "mmap");
        load_read(&l, 0, l.bytes);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") {
        if (munmap(l.p, bytes) != 0 || close(l.file) != 0)
            load_lost(&l, "munmap, close");
    }
    load_end(s, &l);
}

METHOD(load_hugetlb_copy, .experiment = "load", .name = "hugetlb-copy",
       .summary = "Read calls of 1 MiB into huge pages of the reserved pool.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY,
       .laws = KEPT_LAWS "; " USE_FAULTS " == 0; huge_bytes >= bytes", .needs = "huge-pages",
       .calls = "open:openat bring:mmap,pread64 drop:munmap,close", .run = run);
