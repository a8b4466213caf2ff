/* The parts that the methods of single kinds of fault share. Timed are the phases map, advise and unmap only. */
#include "kinds.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>

static _Thread_local volatile char read_into;

void read_pages(const struct part *part)
{
    const volatile char *p = part->start;
    size_t bytes = part->bytes, page = part->page_bytes;
    char sum = 0;
    for (size_t i = 0; i < bytes; i += page)
        sum = (char)(sum + p[i]);
    read_into = sum;
}

uint64_t nonzero_bytes(const struct slot *s, const char *p)
{
    uint64_t count = 0;
    for (size_t i = 0; s->proofs && i < s->bytes; i++)
        count += p[i] != 0;
    return count;
}

void written_after(struct slot *s, char *p)
{
    touch_pages(&(struct part){p, s->bytes, s->page_bytes, page_mark(s)});
    fact_digest(s, p, s->bytes);
}

char *kind_map(struct slot *s, bool huge)
{
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int advice = huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE, advised = 0;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    fault_before(s, p);
    PHASE(s, "advise") { advised = madvise(p, bytes, advice); }
    if (huge)
        check_huge_advice(s, advised);
    else
        check_done(s, advised != 0 && errno != EINVAL, "madvise"); /* EINVAL: a kernel without huge pages */
    return p;
}

void kind_unmap(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    int left;
    PHASE(s, "unmap") { left = munmap(p, bytes); }
    check_done(s, left, "munmap");
}

uint64_t smaps_bytes(struct slot *s, const char *p, const char *row)
{
    char line[512];
    unsigned long from, to, kib;
    bool inside = false;
    uint64_t sum = 0;
    size_t length = strlen(row);
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        fail(s, "open /proc/self/smaps");
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = from >= (uintptr_t)p && to <= (uintptr_t)p + s->bytes;
        else if (inside && strncmp(line, row, length) == 0 && sscanf(line + length, ": %lu kB", &kib) == 1)
            sum += kib * 1024;
    }
    fclose(file);
    return sum;
}

uint64_t number_in(const char *path, uint64_t otherwise)
{
    unsigned long long number;
    FILE *file = fopen(path, "re");
    bool known = file && fscanf(file, "%llu", &number) == 1;
    if (file)
        fclose(file);
    return known ? number : otherwise;
}

enum { TMPFS = 0x01021994 };

static void needs_write_back(struct slot *s, int descriptor)
{
    struct statfs is;
    if (fstatfs(descriptor, &is) != 0)
        fail(s, "fstatfs");
    if (is.f_type == TMPFS)
        skip(s, "the folder for files is a tmpfs, which writes nothing back: name one on a disk");
}

struct kind_file kind_file(struct slot *s, bool disk)
{
    const char *path = arena_text("%s/fault-kinds-%d", disk ? launch_directory() : "", getpid());
    struct kind_file file = {.descriptor = disk ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                                                : memfd_create("pagewise-fault", memfd_flags())};
    const char *obstacle = disk ? NULL : memfd_obstacle(file.descriptor);
    if (obstacle)
        skip(s, obstacle);
    if (file.descriptor < 0)
        fail(s, disk ? "open" : "memfd_create");
    if (disk) {
        unlink(path);
        needs_write_back(s, file.descriptor);
    }
    char mark = page_mark(s);
    if (ftruncate(file.descriptor, (off_t)s->bytes) != 0)
        fail(s, "ftruncate");
    static char block[1 << 20];
    for (size_t i = 0; i < sizeof block; i += s->page_bytes)
        block[i] = mark;
    for (size_t at = 0; at < s->bytes;) {
        size_t left = s->bytes - at;
        ssize_t done = pwrite(file.descriptor, block, left < sizeof block ? left : sizeof block, (off_t)at);
        if (done <= 0)
            fail(s, "pwrite");
        at += (size_t)done;
    }
    return file;
}

void map_file(struct slot *s, struct kind_file *file, int protection)
{
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int descriptor = file->descriptor;
    PHASE(s, "map") { p = mmap(at, bytes, protection, MAP_SHARED | MAP_FIXED_NOREPLACE, descriptor, 0); }
    check_map(s, p);
    file->p = p;
    fact(s, "before.rss_bytes", resident_in(s, p, bytes).rss_bytes);
}
