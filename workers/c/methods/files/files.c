/* See files.h. Never timed. */
#include "files.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Files whose pages are as read(2) left them. */
static struct {
    size_t count, bytes;
    bool packed;
} hot;

static void *resident_room(struct slot *s, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p);
    return p;
}

static void write_file(struct slot *s, int folder, const char *name, const char *data, size_t bytes, int flags)
{
    int file = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (file < 0)
        fail(s, "openat");
    check_done(s, write(file, data, bytes) != (ssize_t)bytes, "write");
    check_done(s, close(file), "close");
}

/* Made by the first process of a run that needs them. The packed file gets its name last: who finds it finds all. */
static void make(struct slot *s, const struct files *f)
{
    struct stat status;
    const char *unfinished = arena_text("%s.new", f->packed);
    if (stat(f->packed, &status) == 0)
        return;
    check_done(s, mkdir(f->path, 0700) != 0 && errno != EEXIST, "mkdir");
    unlink(unfinished);
    int folder = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        fail(s, "open");
    for (size_t i = 0; i < f->count; i++) {
        pattern_fill(f->buffer, f->bytes, i);
        write_file(s, folder, f->names[i], f->buffer, f->bytes, O_TRUNC);
        write_file(s, AT_FDCWD, unfinished, f->buffer, f->bytes, O_APPEND);
    }
    check_done(s, syncfs(folder), "syncfs"); /* dirty pages could not be evicted */
    check_done(s, close(folder), "close");
    check_done(s, rename(unfinished, f->packed), "rename");
}

static void read_whole(struct slot *s, int file, size_t bytes)
{
    static char buffer[1 << 17];
    ssize_t got = 1;
    for (size_t at = 0; at < bytes && got > 0; at += (size_t)got)
        if ((got = pread(file, buffer, sizeof buffer, (off_t)at)) < 0)
            fail(s, "pread");
}

/* One file's pages: evicted, read anew where the cell is hot, and counted. */
static void settle(struct slot *s, struct files *f, const char *path, size_t bytes, bool load, bool evict)
{
    struct stat status;
    char device[64];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        fail(s, "open");
    if (evict && (posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0 || resident_bytes(s, file, bytes) != 0))
        (void)make_cold(s, file, bytes); /* tries again and again, each time after a flush: not for a thousand files */
    if (load)
        read_whole(s, file, bytes);
    f->resident_before += resident_bytes(s, file, bytes);
    f->stored += (size_t)status.st_blocks * 512 < bytes ? (size_t)status.st_blocks * 512 : bytes;
    snprintf(device, sizeof device, "/sys/dev/block/%u:%u/stat", major(status.st_dev), minor(status.st_dev));
    f->counted = access(device, R_OK) == 0;
    close(file);
}

static void settle_all(struct slot *s, struct files *f, bool packed)
{
    char path[4096];
    bool cold = key_is(s, "cache", "cold");
    bool known = hot.count == f->count && hot.bytes == f->bytes && hot.packed == packed, load = !cold && !known;
    if (packed)
        settle(s, f, f->packed, f->total, load, cold || load);
    for (size_t i = 0; i < f->count && !packed; i++) {
        snprintf(path, sizeof path, "%s/%s", f->path, f->names[i]);
        settle(s, f, path, f->bytes, load, cold || load);
    }
    if (cold && f->resident_before == f->total)
        skip(s, "the files lie in memory and cannot be cold: --out names a folder on a disk");
    hot.count = cold ? 0 : f->count;
    hot.bytes = f->bytes;
    hot.packed = packed;
}

void files_begin(struct slot *s, struct files *f, bool packed, size_t turns)
{
    size_t own_text = 0;
    *f = (struct files){.count = key_size(s, "files"), .bytes = s->bytes};
    if (f->count > 999999)
        skip(s, "files= is at most 999999");
    f->total = f->count * f->bytes;
    f->path = arena_text("%s/files-%zu-%zu", launch_directory() ? launch_directory() : ".", f->count, f->bytes);
    f->packed = arena_text("%s.packed", f->path);
    f->buffer_bytes = turns * f->bytes + s->page_bytes;
    f->buffer = resident_room(s, f->buffer_bytes);
    char (*names)[NAME_BYTES] = resident_room(s, f->count * NAME_BYTES);
    for (size_t i = 0; i < f->count; i++)
        snprintf(names[i], NAME_BYTES, "%06zu", i);
    f->names = (const char (*)[NAME_BYTES])names;
    make(s, f);
    int folder = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    check_done(s, folder < 0, "open");
    (void)fact_file_system(s, folder);
    close(folder);
    settle_all(s, f, packed);
    s->ops = f->count;
    s->phase_bytes = f->total;
    f->calls_counted = own_counts(&f->before, &own_text);
}

void files_proofs(struct slot *s, struct files *f, const char *calls)
{
    struct io_counts after = {0};
    (void)own_counts(&after, NULL);
    check_done(s, f->failed != 0, calls);
    uint64_t expected = 0;
    for (size_t i = 0; i < f->count && s->proofs; i++) {
        pattern_fill(f->buffer, f->bytes, i);
        expected += sum_words((unsigned char *)f->buffer, f->bytes) * (2 * i + 1);
    }
    fact(s, "sum_wrong", f->sum != expected);
    fact(s, "total_bytes", f->total);
    fact(s, "stored_bytes", f->stored);
    fact(s, "resident_before_bytes", f->resident_before);
    fact(s, "calls_counted", f->calls_counted);
    fact(s, "counted", f->counted && f->calls_counted);
    /* The call that read the counts before is counted after. */
    fact(s, "read_calls", after.read_calls - f->before.read_calls - 1);
    fact(s, "device_bytes", after.own_bytes - f->before.own_bytes);
    fact_digest_value(s, f->sum);
}

void files_end(struct files *f)
{
    munmap(f->buffer, f->buffer_bytes);
    munmap((void *)f->names, f->count * NAME_BYTES);
}
