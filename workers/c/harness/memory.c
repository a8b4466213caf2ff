/* Addresses, residency and backing of the memory that methods measure. Never timed as part of a phase. */
#include "core.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void *free_range(struct slot *s, size_t bytes)
{
    size_t align = s->huge_page_bytes ? s->huge_page_bytes : s->page_bytes;
    size_t reserve = bytes + 3 * align;
    if (reserve < bytes) {
        errno = ENOMEM;
        fail(s, "mmap");
    }
    char *area = mmap(NULL, reserve, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        fail(s, "mmap");
    check_done(s, munmap(area, reserve), "munmap");
    /* At least one huge page of unmapped guard on both sides: a neighbour would be merged into one mapping. */
    return (void *)(((uintptr_t)area + align + align - 1) / align * align);
}

void check_map(struct slot *s, const void *mapped)
{
    if (mapped == MAP_FAILED)
        fail(s, "mmap");
}

void check_done(struct slot *s, int left, const char *calls)
{
    if (left != 0)
        fail(s, calls);
}

/* Calls `line` for each line of a small file of /proc until it has seen enough; lines longer than the buffer are cut. */
static bool each_line(const char *path, bool (*line)(char *, void *), void *context)
{
    static char text[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t held = 0;
    ssize_t got;
    bool more = true;
    while (more && ((got = read(fd, text + held, sizeof text - 1 - held)) != 0 || held)) {
        if (got < 0 && errno == EINTR)
            continue;
        /* A part of what the kernel says would count too little, and prove what is not so. */
        if (got < 0) {
            int error = errno;
            close(fd);
            errno = error;
            return false;
        }
        held += got > 0 ? (size_t)got : 0;
        text[held] = 0;
        char *p = text, *end;
        while (more && (end = strchr(p, '\n'))) {
            *end = 0;
            more = line(p, context);
            p = end + 1;
        }
        held = (size_t)(text + held - p);
        memmove(text, p, held);
        if (got <= 0)
            break;
    }
    close(fd);
    return true;
}

struct smaps_search {
    uintptr_t from, to;
    bool inside, overlapping;
    struct resident found;
};

/* Mappings come in the order of their addresses, each with its own lines after it, whose names begin with a capital. */
static bool smaps_line(char *line, void *context)
{
    struct smaps_search *search = context;
    unsigned long from, to, kib;
    if (*line >= 'A' && *line <= 'Z') {
        if (!search->inside)
            return true;
        if (sscanf(line, "Rss: %lu kB", &kib) == 1)
            search->found.rss_bytes += kib * 1024;
        else if (sscanf(line, "Pss: %lu kB", &kib) == 1)
            search->found.pss_bytes += kib * 1024;
        else if (sscanf(line, "AnonHugePages: %lu kB", &kib) == 1 || sscanf(line, "ShmemPmdMapped: %lu kB", &kib) == 1 ||
                 sscanf(line, "FilePmdMapped: %lu kB", &kib) == 1 || sscanf(line, "Private_Hugetlb: %lu kB", &kib) == 1 ||
                 sscanf(line, "Shared_Hugetlb: %lu kB", &kib) == 1)
            search->found.huge_bytes += kib * 1024;
        else if (sscanf(line, "LazyFree: %lu kB", &kib) == 1)
            search->found.lazyfree_bytes += kib * 1024;
    } else if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
        search->inside = search->overlapping ? from < search->to && to > search->from
                                             : from >= search->from && to <= search->to;
        return from < search->to;
    }
    return true;
}

struct resident resident_in(struct slot *s, const void *start, size_t bytes)
{
    return s->proofs ? resident_now(s, start, bytes) : (struct resident){0};
}

struct resident resident_now(struct slot *s, const void *start, size_t bytes)
{
    struct smaps_search search = {.from = (uintptr_t)start, .to = (uintptr_t)start + bytes};
    if (!each_line("/proc/self/smaps", smaps_line, &search))
        fail(s, "read /proc/self/smaps");
    return search.found;
}

struct resident resident_in_process(struct slot *s)
{
    struct smaps_search search = {.from = 0, .to = UINTPTR_MAX};
    if (!each_line("/proc/self/smaps_rollup", smaps_line, &search))
        fail(s, "read /proc/self/smaps_rollup");
    return search.found;
}

/* Bit 63 of a page's entry says that it is present (Documentation/admin-guide/mm/pagemap.rst). */
uint64_t mapped_present_bytes(struct slot *s, const void *start, size_t bytes)
{
    uint64_t entries[512], present = 0;
    size_t first = (uintptr_t)start / s->page_bytes, end = ((uintptr_t)start + bytes + s->page_bytes - 1) / s->page_bytes;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(s, "open /proc/self/pagemap");
    while (first < end) {
        size_t want = end - first < 512 ? end - first : 512;
        ssize_t got = pread(fd, entries, want * sizeof *entries, (off_t)(first * sizeof *entries));
        if (got <= 0)
            fail(s, "read /proc/self/pagemap");
        for (size_t i = 0; i < (size_t)got / sizeof *entries; i++)
            present += entries[i] >> 63;
        first += (size_t)got / sizeof *entries;
    }
    close(fd);
    return present * s->page_bytes;
}

uint64_t huge_bytes_around(struct slot *s, const void *start, size_t bytes)
{
    if (!s->proofs)
        return 0;
    struct smaps_search search = {.from = (uintptr_t)start, .to = (uintptr_t)start + bytes, .overlapping = true};
    if (!each_line("/proc/self/smaps", smaps_line, &search))
        fail(s, "read /proc/self/smaps");
    return search.found.huge_bytes;
}

static bool status_line(char *line, void *context)
{
    unsigned long kib;
    if (sscanf(line, "VmHWM: %lu kB", &kib) != 1)
        return true;
    *(uint64_t *)context = kib * 1024;
    return false;
}

uint64_t peak_rss_bytes(void)
{
    uint64_t bytes = 0;
    each_line("/proc/self/status", status_line, &bytes);
    return bytes;
}

void reset_peak_rss(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "5", 1);
        close(fd);
    }
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
unsigned memfd_flags(void)
{
    static unsigned flags;
    if (flags)
        return flags;
    flags = MFD_CLOEXEC | MFD_NOEXEC_SEAL; /* since Linux 6.3; vm.memfd_noexec=2 insists on it */
    int fd = memfd_create("pagewise-flags", flags);
    if (fd < 0 && errno == EINVAL)
        flags = MFD_CLOEXEC;
    if (fd >= 0)
        close(fd);
    return flags;
}

const char *memfd_obstacle(int descriptor)
{
    if (descriptor >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS))
        return NULL;
    return refused("memfd_create", "a seccomp filter, a security module, or a kernel without memory files");
}

/* Maps, touches and gives back `bytes`; returns what a touch cost, in picoseconds of CPU time per base page. */
static uint64_t recycle_frames(struct slot *s, size_t bytes, bool huge)
{
    size_t page = s->page_bytes;
    volatile char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED && errno == ENOMEM)
        return 0; /* the method's own call says what is to be done */
    check_map(s, (const void *)p);
    (void)madvise((void *)p, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    uint64_t start = thread_cpu_ns();
    for (size_t i = 0; i < bytes; i += page)
        p[i] = 1;
    uint64_t spent = thread_cpu_ns() - start;
    munmap((void *)p, bytes);
    size_t pages = bytes / page ? bytes / page : 1;
    return spent * 1000 / pages;
}

/* What a slot gave back at its very end: one thread had touched that much, in pages of that kind. Where the next slot wants as
 * much of the same, its frames are as recycled as recycle_frames() would leave them. */
static struct {
    int slot;
    size_t bytes;
    bool huge;
} given_back = {.slot = -1};

/* What the last pass over so much memory in such pages came to: in this process, for base pages also in the one before. Huge
 * pages are all in the caches only after several passes of one process. */
struct level {
    uint64_t bytes, huge, last;
};
enum { LEVELS = 64 };

static struct level *level_for(size_t bytes, bool huge)
{
    static struct level own[LEVELS], *kept;
    static bool asked;
    if (!asked)
        kept = kept_notes(sizeof own);
    asked = true;
    struct level *levels = kept && !huge ? kept : own;
    int i = 0;
    while (i < LEVELS - 1 && levels[i].bytes && (levels[i].bytes != bytes || levels[i].huge != huge))
        i++;
    if (levels[i].bytes != bytes || levels[i].huge != huge)
        levels[i] = (struct level){bytes, huge, 0};
    return &levels[i];
}

/* Passes at most. Base pages behind others of their kind are in the caches after a few, huge pages behind base pages come into
 * a large last cache little by little. */
enum { BASE_PASSES = 4, HUGE_PASSES = 12, STALE_PASSES = 3 };

/* Frames are recycled when a pass is no longer dearer than the cheapest one seen, or the last one before: the host holds them
 * all by then. The first passes of a process have nothing to be compared with; of huge pages they go on until several have
 * brought nothing. Where the slot before has just done what a pass does, the level is that of the last pass. */
static uint64_t recycle(struct slot *s, size_t bytes, bool huge)
{
    struct level *noted = level_for(bytes, huge);
    uint64_t level = 0, cheapest = noted->last, passes = 0, stale = 0;
    bool just_now = given_back.slot >= 0 && given_back.slot == s->number - 1 && !in_child();
    if (just_now && given_back.bytes == bytes && given_back.huge == huge && noted->last)
        return noted->last;
    bool known = cheapest != 0;
    while (passes < (huge ? HUGE_PASSES : BASE_PASSES) && (!huge || stale < STALE_PASSES)) {
        level = recycle_frames(s, bytes, huge);
        passes++;
        stale = cheapest && level > cheapest - cheapest / 32 ? stale + 1 : 0;
        if (!cheapest || level < cheapest)
            cheapest = level;
        if (known && level < cheapest + cheapest / 10)
            break;
    }
    noted->last = level;
    fact(s, "backing_passes", passes);
    return level;
}

void backing_given_back(const struct slot *s, size_t bytes)
{
    if (s->threads > 1 || in_child())
        return;
    given_back.slot = s->number;
    given_back.bytes = (bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    given_back.huge = wants_huge_pages(s);
}

bool wants_huge_pages(const struct slot *s)
{
    return s->cell->method->backing_huge;
}

void backing_before(struct slot *s, size_t bytes)
{
    backing_before_in(s, bytes, wants_huge_pages(s));
}

void backing_before_in(struct slot *s, size_t bytes, bool huge)
{
    bytes = (bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    if (key_is(s, "backing", "recycled"))
        fact(s, "backing_level_ps", recycle(s, bytes, huge));
    if (key_is(s, "backing", "cold")) {
        uint64_t ms = key_size(s, "idle_ms");
        struct timespec idle = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
        while (nanosleep(&idle, &idle) != 0 && errno == EINTR)
            ;
    }
    /* The preparation may have made huge pages where the machine's state has none. */
    state_renew();
}

void backing_after(struct slot *s, size_t bytes)
{
    bytes = (bytes + s->page_bytes - 1) / s->page_bytes * s->page_bytes;
    if (key_is(s, "backing", "cold"))
        fact(s, "backing_level_ps", recycle(s, bytes, wants_huge_pages(s)));
}
