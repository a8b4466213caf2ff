#include "reset.h"
#include <fcntl.h>

enum { ENTRIES = 512, SOFT_DIRTY_BIT = 55 };

struct soft {
    int pagemap, clear;
};

static void clear(struct region *r)
{
    const struct soft *soft = r->own;
    if (write(soft->clear, "4", 1) != 1)
        region_lost(r, "write /proc/self/clear_refs");
}

/* Pages whose entry says that they were written to since the last clear() (Documentation/admin-guide/mm/soft-dirty.rst). */
static void reset(struct region *r)
{
    const struct soft *soft = r->own;
    uint64_t entries[ENTRIES];
    size_t pages = r->bytes / r->page, first = (uintptr_t)r->p / r->page;
    for (size_t from = 0; from < pages; from += ENTRIES) {
        size_t count = pages - from < ENTRIES ? pages - from : ENTRIES;
        ssize_t got = pread(soft->pagemap, entries, count * sizeof *entries, (off_t)((first + from) * sizeof *entries));
        if (got >= 0 && (size_t)got != count * sizeof *entries)
            errno = EIO;
        if (got < 0 || (size_t)got != count * sizeof *entries) {
            region_lost(r, "read /proc/self/pagemap");
            return;
        }
        for (size_t i = 0; i < count; i++)
            if (entries[i] >> SOFT_DIRTY_BIT & 1)
                restore(r, r->p + (from + i) * r->page, r->page);
    }
    clear(r);
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, TRACKED);
    struct soft soft = {open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)};
    uint64_t entry = 0;
    if (soft.pagemap < 0 || soft.clear < 0)
        fail(s, "open /proc/self/pagemap or clear_refs");
    r.own = &soft;
    restore(&r, r.p, r.bytes);
    if (pread(soft.pagemap, &entry, sizeof entry, (off_t)((uintptr_t)r.p / r.page * sizeof entry)) != sizeof entry)
        fail(s, "read /proc/self/pagemap");
    if (!(entry >> SOFT_DIRTY_BIT & 1))
        skip(s, "this kernel does not track writes by soft-dirty bits (CONFIG_MEM_SOFT_DIRTY=y)");
    clear(&r);
    reset_cycles(s, &r, reset);
    fact(s, "noted_bytes", r.restored);
    close(soft.pagemap);
    close(soft.clear);
    region_end(&r);
}

METHOD(reset_soft_dirty, .experiment = "reset", .name = "soft-dirty",
       .summary = "clear_refs and bit 55 of pagemap: the kernel notes writes of the whole process by write-protecting its pages.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS "; reset.minor_faults == 0; noted_bytes == dirty_pages * page_bytes",
       .calls = "reset:pread64,write", .run = run);
