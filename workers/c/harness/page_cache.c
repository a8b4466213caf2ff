/* What the page cache holds of a file. Never timed. */
#include "core.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* cachestat(2) has one number on every architecture; older headers lack it. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

enum { OVERLAYFS = 0x794c7630 };

/* Bytes of the mapping at `p` that are dirty, by it or by the file's pages (proc_pid_smaps(5)). */
static bool dirty_of_mapping(const void *p, uint64_t *bytes)
{
    char line[512];
    unsigned long from, to, kib;
    bool inside = false, seen = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = from <= (uintptr_t)p && (uintptr_t)p < to;
        else if (inside && (sscanf(line, "Shared_Dirty: %lu kB", &kib) == 1 ||
                            sscanf(line, "Private_Dirty: %lu kB", &kib) == 1)) {
            *bytes += kib * 1024;
            seen = true;
        }
    }
    if (file)
        fclose(file);
    return seen;
}

/* By a mapping of the pages that are there. Those that are being written are not dirty any more. */
static bool by_mapping(size_t page, int fd, size_t bytes, struct file_pages *found)
{
    size_t pages = (bytes + page - 1) / page;
    const volatile unsigned char *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    unsigned char *there = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool known = map != MAP_FAILED && there != MAP_FAILED && mincore((void *)map, bytes, there) == 0;
    for (size_t i = 0; known && i < pages; i++)
        if (there[i] & 1) {
            (void)map[i * page];
            found->cached += page;
        }
    known = known && dirty_of_mapping((const void *)map, &found->dirty);
    if (map != MAP_FAILED)
        munmap((void *)map, bytes);
    if (there != MAP_FAILED)
        munmap(there, pages);
    return known;
}

bool file_pages(const struct slot *s, int fd, struct file_pages *found)
{
    uint64_t all[2] = {0, 0};
    struct {
        uint64_t cached, dirty, writeback, evicted, recently_evicted;
    } pages;
    struct statfs about;
    struct stat status;
    *found = (struct file_pages){0, 0};
    /* The pages of a file on overlayfs are those of the file below, of which cachestat(2) knows nothing: it says 0. */
    bool is_overlay = fstatfs(fd, &about) == 0 && (uint32_t)about.f_type == OVERLAYFS;
    if (!is_overlay && syscall(SYS_cachestat, fd, all, &pages, 0) == 0) {
        *found = (struct file_pages){pages.cached * s->page_bytes, (pages.dirty + pages.writeback) * s->page_bytes};
        return true;
    }
    if (fstat(fd, &status) != 0)
        return false;
    return status.st_size == 0 || by_mapping(s->page_bytes, fd, (size_t)status.st_size, found);
}

struct file_pages proved_pages(struct slot *s, int fd)
{
    struct file_pages found;
    if (!file_pages(s, fd, &found))
        skip(s, "nothing tells here whether what was written has left the page cache: neither cachestat (Linux 6.5) nor a "
                "mapping of the file");
    return found;
}
