/* Preparation and proofs of the `allocate` methods. Nothing here calls malloc, and nothing here is timed. */
#include "allocate.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>

#if !defined(__GLIBC__)
#define HAVE_GLIBC false
#define MMAPPED_BLOCKS UINT64_MAX /* allocate_malloc() has skipped before it is asked */
#else
#define HAVE_GLIBC true
#if __GLIBC_PREREQ(2, 33)
#define MMAPPED_BLOCKS mallinfo2().hblks
#else
#define MMAPPED_BLOCKS (uint64_t)mallinfo().hblks
#endif
#endif

static char text[1 << 16];

/* A small file as text; empty where it cannot be read. */
static const char *read_text(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t held = 0;
    ssize_t got;
    while (fd >= 0 && held < sizeof text - 1 && (got = read(fd, text + held, sizeof text - 1 - held)) > 0)
        held += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[held] = 0;
    return text;
}

/* A line of smaps_rollup, whose name begins with a newline, in bytes. */
static uint64_t rolled_up(struct slot *s, const char *name)
{
    const char *line = strstr(read_text("/proc/self/smaps_rollup"), name);
    if (!line)
        fail_because(s, "find a line of /proc/self/smaps_rollup (Linux 4.14)", name + 1);
    return strtoull(line + strlen(name), NULL, 10) * 1024;
}

/* Exact; VmRSS would also count library code as it comes into use. */
uint64_t allocate_anonymous_bytes(struct slot *s)
{
    return rolled_up(s, "\nAnonymous:");
}

uint64_t allocate_huge_bytes(struct slot *s)
{
    return rolled_up(s, "\nAnonHugePages:");
}

/* Reads a byte of every page of every loaded program segment, so that the first use of a library function in this fresh
 * process is not charged for bringing in its code. Segments are mapped from files: reading copies nothing. */
static int read_segments(struct dl_phdr_info *object, size_t size, void *page_bytes)
{
    (void)size;
    size_t page = *(size_t *)page_bytes;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R))
            continue;
        const volatile char *start = (const volatile char *)(object->dlpi_addr + segment->p_vaddr);
        for (size_t at = 0; at < segment->p_filesz; at += page)
            (void)start[at];
    }
    return 0;
}

static uint64_t huge_bytes_before;

void allocate_begin(struct slot *s)
{
    s->ops = s->bytes;
    fact(s, "heap_untouched", strstr(read_text("/proc/self/maps"), "[heap]") == NULL);
    fact(s, "base_pages_only", !huge_pages_granted(s, false) && !small_folios_granted(s, false));
    fact(s, "footprint_bytes", s->bytes);
    dl_iterate_phdr(read_segments, &s->page_bytes);
    backing_before(s, s->bytes);
    bystanders_begin(s);
    reset_peak_rss();
    huge_bytes_before = resident_in_process(s).huge_bytes;
    fact(s, "before.anonymous_bytes", allocate_anonymous_bytes(s));
}

void *get_malloc(struct slot *s)
{
    return malloc(s->bytes);
}

void give_free(struct slot *s, void *block)
{
    (void)s;
    free(block);
}

void *get_mapping(struct slot *s)
{
    struct place place = mapping_place(s);
    return mmap(place.at, whole_pages(s), PROT_READ | PROT_WRITE, place.flags, -1, 0);
}

void give_unmap(struct slot *s, void *block)
{
    check_done(s, munmap(block, whole_pages(s)), "munmap");
}

struct before allocate_before(struct slot *s, void *(*get)(struct slot *), void (*give)(struct slot *, void *))
{
    struct before before = {NULL, key_is(s, "reuse", "kept")};
    enum { TURNS = 8 };
    int turns = before.kept || key_is(s, "reuse", "steady") ? TURNS : 0;
    for (int i = 0; i < turns; i++) {
        struct rusage start, end;
        getrusage(RUSAGE_SELF, &start);
        if (before.block && !before.kept)
            give(s, before.block);
        if (!before.block || !before.kept)
            before.block = get(s);
        allocate_check(s, before.block, "the turns before");
        __asm__ volatile("" ::"r"(before.block) : "memory");
        memset(before.block, 0, s->bytes);
        getrusage(RUSAGE_SELF, &end);
        if (i == turns - 1)
            fact(s, "turn_faults", (uint64_t)(end.ru_minflt - start.ru_minflt));
    }
    return before;
}

void allocate_check(struct slot *s, const void *block, const char *call)
{
    if (!block || block == MAP_FAILED)
        fail(s, call);
}

/* Every byte of `p` is `value`: equal neighbours all along mean that each byte is the first one. */
bool allocate_all_are(const char *p, size_t bytes, char value)
{
    return bytes == 0 || (p[0] == value && memcmp(p, p + 1, bytes - 1) == 0);
}

static bool first_of_each_page(const char *p, size_t bytes, char value, size_t page)
{
    for (size_t at = 0; at < bytes; at = next_page(p, at, page)) {
        size_t end = next_page(p, at, page);
        if (p[at] != value || !allocate_all_are(p + at + 1, (end < bytes ? end : bytes) - at - 1, 0))
            return false;
    }
    return true;
}

void allocate_filled(struct slot *s, const char *block, char value, bool each_page)
{
    fact(s, "fill.anonymous_bytes", allocate_anonymous_bytes(s));
    fact(s, "block_alignment", (uintptr_t)block & -(uintptr_t)block);
    fact(s, "fill.peak_rss_bytes", peak_rss_bytes());
    fact(s, "filled_right", each_page ? first_of_each_page(block, s->bytes, value, s->page_bytes)
                                      : allocate_all_are(block, s->bytes, value));
}

void allocate_mapping(struct slot *s, const char *block)
{
    fact(s, "fill.rss_bytes", mapped_present_bytes(s, block, whole_pages(s)));
    fact(s, "huge_bytes", resident_in_process(s).huge_bytes - huge_bytes_before);
}

void allocate_malloc(struct slot *s, const char *library, const char *package)
{
    static char reason[256];
    Dl_info malloc_is, libc_is;
    if (!library && !HAVE_GLIBC)
        skip(s, "this worker was built with another C library than glibc, whose malloc the method is about");
    if (!dladdr((void *)malloc, &malloc_is) || !dladdr((void *)sysconf, &libc_is))
        fail_because(s, "dladdr", "the library that has malloc is not known");
    const char *slash = strrchr(malloc_is.dli_fname, '/'), *file = slash ? slash + 1 : malloc_is.dli_fname;
    if (library && strncmp(file, library, strlen(library)) != 0) {
        snprintf(reason, sizeof reason, "malloc is %s's here: install the package %s and start the worker by "
                 "exec --preload %s", file, package, library);
        skip(s, reason);
    }
    fact_word(s, "malloc_library", file);
    fact(s, "malloc_is_glibc", HAVE_GLIBC && malloc_is.dli_fbase == libc_is.dli_fbase);
    fact(s, "malloc_is_preloaded", library && malloc_is.dli_fbase != libc_is.dli_fbase);
}

void allocate_glibc(struct slot *s, const char *block)
{
    fact(s, "mmapped_blocks", MMAPPED_BLOCKS);
    fact(s, "below_break", block + s->bytes <= (char *)sbrk(0));
}

void allocate_refilled(struct slot *s, const char *block)
{
    fact_digest(s, block, s->bytes);
}

void allocate_end(struct slot *s)
{
    fact(s, "free.anonymous_bytes", allocate_anonymous_bytes(s));
    bystanders_end(s);
    backing_after(s, s->bytes);
}

struct place mapping_place(struct slot *s)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (key_is(s, "align", "huge"))
        return (struct place){free_range(s, whole_pages(s)), flags | MAP_FIXED_NOREPLACE};
    return (struct place){NULL, flags};
}
