/* What the page cache holds of a file: asked, emptied and filled before the clock, and always proved. */
#include "read.h"
#include "methods/fault/kinds.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

/* cachestat(2) has one number on every architecture; older headers lack it. */
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

enum { OVERLAYFS = 0x794c7630 };

struct cache_range {
    uint64_t offset, bytes;
};
struct cache_status {
    uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
};

static const char nobody_tells[] = "the kernel shows which pages of a file are cached only to its owner and to those who may "
                                   "write it, so neither cold nor hot can be proved: copy the file, or be its owner";

/* Where cachestat is missing (before 6.5) or refused: mincore(2), which tells all others that everything is resident. */
static size_t resident_by_mincore(struct slot *s, int descriptor, size_t bytes)
{
    struct stat status;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    if (fstat(descriptor, &status) != 0)
        fail(s, "fstat");
    if (status.st_uid != geteuid() && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        skip(s, nobody_tells);
    size_t page = s->page_bytes, pages = (bytes + page - 1) / page, resident = 0;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    check_map(s, map);
    unsigned char *seen = mmap(NULL, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, seen);
    if (mincore(map, bytes, seen) != 0)
        fail(s, "mincore");
    for (size_t i = 0; i < pages; i++)
        resident += seen[i] & 1;
    munmap(seen, pages);
    munmap(map, bytes);
    return resident * page;
}

size_t resident_bytes(struct slot *s, int descriptor, size_t bytes)
{
    struct cache_range range = {0, bytes};
    struct cache_status status = {0};
    struct statfs about;
    size_t resident;
    /* The pages of a file on overlayfs are those of the file below, of which cachestat(2) knows nothing: it says 0. */
    bool is_overlay = fstatfs(descriptor, &about) == 0 && (uint32_t)about.f_type == OVERLAYFS;
    if (!is_overlay && syscall(SYS_cachestat, descriptor, &range, &status, 0) == 0)
        resident = status.cached * s->page_bytes;
    else /* too old, not this file's owner, or a container's filter: the older call tells these apart */
        resident = resident_by_mincore(s, descriptor, bytes);
    return resident < bytes ? resident : bytes;
}

/* Files whose pages are as make_hot() left them. */
enum { MAX_LOADED = 16 };
static struct {
    dev_t device;
    ino_t inode;
    char how; /* first letter of the cell's `cache` */
} loaded[MAX_LOADED];
static int loaded_count;

static int loaded_index(struct slot *s, int descriptor)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        fail(s, "fstat");
    for (int i = 0; i < loaded_count; i++)
        if (loaded[i].device == status.st_dev && loaded[i].inode == status.st_ino)
            return i;
    if (loaded_count < MAX_LOADED) {
        loaded[loaded_count].device = status.st_dev;
        loaded[loaded_count].inode = status.st_ino;
    }
    return -1;
}

static void evict(struct slot *s, int descriptor)
{
    int i = loaded_index(s, descriptor);
    if (i >= 0)
        loaded[i] = loaded[--loaded_count];
    /* Dirty, mapped and locked pages stay; so do pages that another CPU is about to add to its list. */
    (void)fdatasync(descriptor);
    if ((errno = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)) != 0)
        fail(s, "posix_fadvise");
}

size_t make_cold(struct slot *s, int descriptor, size_t bytes)
{
    for (int tries = 0;; tries++) {
        evict(s, descriptor);
        size_t resident = resident_bytes(s, descriptor, bytes);
        if (!resident || tries == 8)
            return resident;
        struct timespec pause = {0, 1000000L << tries};
        nanosleep(&pause, NULL);
    }
}

static void load_by_read(struct slot *s, int descriptor, size_t bytes)
{
    static char buffer[1 << 17];
    ssize_t got = 1;
    for (size_t at = 0; at < bytes && got > 0; at += (size_t)got)
        if ((got = pread(descriptor, buffer, sizeof buffer, (off_t)at)) < 0)
            fail(s, "pread");
}

/* Writes the same bytes over the same blocks. They are fetched past the page cache: a cached read would make the folios. */
static void load_by_write(struct slot *s, int descriptor, size_t bytes)
{
    static char buffer[1 << 17] __attribute__((aligned(4096)));
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC), into = open(path, O_WRONLY | O_CLOEXEC);
    if (direct < 0 || into < 0)
        skip(s, refused("open for O_DIRECT and for writing", "cache=written needs a file system with O_DIRECT"));
    ssize_t got = 1;
    for (size_t at = 0; at < bytes && got > 0; at += (size_t)got)
        if ((got = pread(direct, buffer, sizeof buffer, (off_t)at)) < 0 || pwrite(into, buffer, (size_t)got, (off_t)at) != got)
            fail(s, "pread or pwrite");
    if (fdatasync(into) != 0) /* no write-back within the clock */
        fail(s, "fdatasync");
    close(into);
    close(direct);
}

static void load_by_mapping(struct slot *s, int descriptor, size_t bytes)
{
    const volatile char *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    check_map(s, (const void *)p);
    for (size_t at = 0; at < bytes; at += s->page_bytes)
        (void)p[at];
    munmap((void *)p, bytes);
}

/* The folio sizes of cached pages differ with the call that made them. A file is evicted and loaded anew in the cell's way
 * unless the last load was the same: a measured pass over a cold file leaves folios of other sizes. */
size_t make_hot(struct slot *s, int descriptor, size_t bytes)
{
    char how = key_is(s, "cache", "written") ? 'w' : key_is(s, "cache", "mapped") ? 'm' : 'h';
    bool kept = key_is(s, "kept", "yes"); /* another process's word (prepare-file) */
    int known = loaded_index(s, descriptor);
    bool as_left = kept || (known >= 0 && loaded[known].how == how) || key_is(s, "place", "tmpfs");
    if (how != 'h' && key_is(s, "place", "tmpfs"))
        skip(s, "the pages of a tmpfs file are the file itself and stay as they were made: cache=hot");
    if (!as_left)
        (void)make_cold(s, descriptor, bytes);
    size_t resident = resident_bytes(s, descriptor, bytes);
    for (int tries = 0; tries < 3 && resident < bytes; tries++) {
        if (how == 'w' && tries == 0 && !as_left)
            load_by_write(s, descriptor, bytes);
        else if (how == 'm')
            load_by_mapping(s, descriptor, bytes);
        else
            load_by_read(s, descriptor, bytes);
        resident = resident_bytes(s, descriptor, bytes);
    }
    if (!as_left && loaded_index(s, descriptor) < 0 && loaded_count < MAX_LOADED)
        loaded[loaded_count++].how = how;
    return resident;
}

/* As published: everybody's clean pages, dentries and inodes. The laboratory asks for it only where that was allowed. */
void drop_caches(struct slot *s)
{
    loaded_count = 0;
    sync();
    int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
    if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
        skip(s, "only root may write /proc/sys/vm/drop_caches; cache=cold needs no privilege");
    if (fd < 0 || write(fd, "3", 1) != 1)
        fail(s, "write /proc/sys/vm/drop_caches");
    close(fd);
}

/* How far the kernel reads ahead on the file's device; 128 is usual. */
uint64_t read_ahead_kib(int file)
{
    struct stat status;
    char path[128];
    if (fstat(file, &status) != 0)
        return 0;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/queue/read_ahead_kb", major(status.st_dev), minor(status.st_dev));
    uint64_t whole = number_in(path, 0);
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/../queue/read_ahead_kb", major(status.st_dev), minor(status.st_dev));
    return whole ? whole : number_in(path, 0);
}
