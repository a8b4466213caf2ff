/* The parts that the `relay` methods share. Never timed. */
#include "relay.h"
#include "../read/cache.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { MAX_FILES = 16, TMPFS = 0x01021994 };
static struct {
    size_t bytes;
    bool on_tmpfs;
    int file;
} files[MAX_FILES];

static int open_unnamed(const char *folder)
{
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return file;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-relay", folder, launch_name());
    file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    unlink(path);
    return file;
}

/* Without the faults of a mapping, which took longer than the pattern; on a disk the cell's `cache` brings the pages anew. */
static void write_pattern(struct slot *s, int file)
{
    static uint64_t piece[1 << 15];
    for (size_t at = 0; at < s->bytes;) {
        size_t size = s->bytes - at < sizeof piece ? s->bytes - at : sizeof piece;
        for (size_t i = 0; i < (size + 7) / 8; i++)
            piece[i] = pattern_word(s->seed, at / 8 + i);
        ssize_t put = pwrite(file, piece, size, (off_t)at);
        if (put < 0 && errno != EINTR)
            fail(s, "pwrite");
        at += put < (ssize_t)size && put > 0 ? (size_t)put / 8 * 8 : put > 0 ? (size_t)put : 0;
    }
}

static const char *make_file(struct slot *s, bool on_tmpfs, int *file)
{
    struct statfs system;
    *file = open_unnamed(on_tmpfs ? "/dev/shm" : launch_directory());
    if (*file < 0)
        fail(s, "open");
    if (fstatfs(*file, &system) != 0)
        fail(s, "fstatfs");
    if (on_tmpfs != (system.f_type == TMPFS))
        return on_tmpfs ? "/dev/shm is no tmpfs here"
                        : "the folder for files lies on tmpfs, which is memory and no disk";
    do
        errno = posix_fallocate(*file, 0, (off_t)s->bytes);
    while (errno == EINTR);
    if (errno)
        return refused("posix_fallocate", "is there room for the file?");
    if (!on_tmpfs) {
        write_pattern(s, *file);
        return NULL;
    }
    /* The file stays as it is made: in base pages, whatever a large write would get. */
    char *p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    check_map(s, p);
    pattern_fill(p, s->bytes, s->seed);
    munmap(p, s->bytes);
    return NULL;
}

int relay_file(struct slot *s, const char *obstacle)
{
    bool on_tmpfs = key_is(s, "place", "tmpfs");
    int i = 0;
    if (!obstacle && on_tmpfs && key_is(s, "cache", "cold"))
        obstacle = "tmpfs cannot be cold: its pages are not a cache of the file, they are the file";
    if (!obstacle && on_tmpfs && !key_is(s, "cache", "hot"))
        obstacle = "the pages of a tmpfs file are the file itself and stay as they were made: cache=hot";
    while (i < MAX_FILES && files[i].bytes && (files[i].bytes != s->bytes || files[i].on_tmpfs != on_tmpfs))
        i++;
    if (!obstacle && i == MAX_FILES)
        obstacle = "more than 16 different files in one launch";
    if (!obstacle && !files[i].bytes && !(obstacle = make_file(s, on_tmpfs, &files[i].file))) {
        files[i].bytes = s->bytes;
        files[i].on_tmpfs = on_tmpfs;
    }
    agree(s, obstacle);
    (void)fact_file_system(s, files[i].file);
    return files[i].file;
}

uint64_t relay_prepare(struct slot *s, int file)
{
    s->ops = s->bytes;
    size_t held = key_is(s, "cache", "cold") ? make_cold(s, file, s->bytes) : make_hot(s, file, s->bytes);
    return (held + s->page_bytes - 1) / s->page_bytes;
}

void relay_ready(struct slot *s, int file)
{
    fact(s, "cached_pages_before", relay_prepare(s, file));
    meet(s);
}

int relay_new_file(struct slot *s)
{
    int file = open_unnamed(key_is(s, "place", "tmpfs") ? "/dev/shm" : launch_directory());
    if (file < 0)
        fail(s, "open");
    return file;
}

struct sink relay_sink(struct slot *s)
{
    struct sink to = {NULL, -1, key_is(s, "sink", "synced-file")};
    if (key_is(s, "sink", "memory")) {
        to.block = relay_target(s);
        return to;
    }
    agree(s, NULL);
    s->ops = s->bytes;
    to.file = relay_new_file(s);
    return to;
}

void relay_sunk(struct slot *s, struct sink *to, uint64_t calls)
{
    if (to->block) {
        relay_received(s, to->block, calls);
        fact(s, "dirty_known", 0);
        return;
    }
    struct stat status;
    struct file_pages pages = {0};
    if (key_is(s, "sink", "synced-file") && !to->synced)
        fail(s, "fdatasync");
    meet(s);
    fact(s, "receive.calls", calls);
    bool known = to->synced && key_is(s, "place", "disk") && file_pages(s, to->file, &pages);
    fact(s, "dirty_known", known);
    fact(s, "dirty_bytes_after", pages.dirty);
    if (fstat(to->file, &status) != 0)
        fail(s, "fstat");
    fact(s, "new_file_bytes", (uint64_t)status.st_size);
    fact(s, "footprint_bytes", 2 * (uint64_t)s->bytes);
    relay_prove_file(s, to->file);
    close(to->file);
}

char *relay_target(struct slot *s)
{
    agree(s, NULL);
    s->ops = s->bytes;
    return block_resident(s, s->bytes);
}

void relay_sent(struct slot *s, uint64_t calls)
{
    fact(s, "send.calls", calls);
    meet(s); /* b has received */
}

void relay_received(struct slot *s, char *p, uint64_t calls)
{
    meet(s);
    fact(s, "receive.calls", calls);
    fact(s, "footprint_bytes", 2 * (uint64_t)s->bytes); /* the file's pages and the block */
    block_prove(s, p, s->bytes);
    block_free(s, p, s->bytes);
}

void relay_prove_file(struct slot *s, int file)
{
    char *p = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    check_map(s, p);
    block_prove(s, p, s->bytes);
    munmap(p, s->bytes);
}
