/* Files and proofs of the `write` methods. Never timed. */
#include "write.h"
#include "block.h"
#include <stdio.h>
#include <sys/stat.h>

static char *image;
static size_t image_bytes;
static bool image_stored; /* the file holds the image, all of it */

static void *room(struct slot *s, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p);
    return p;
}

/* The records' contents are new in each slot: what was there before cannot pass for what was written. */
static void make_records(struct slot *s, struct store *st)
{
    size_t count = 2 * st->ops, places = st->file_bytes / st->record_bytes;
    /* Who names no order overwrites one record after the other: nothing is cheaper for a device. */
    bool in_a_row = !key_is(s, "order", "random");
    char *data = room(s, count * st->record_bytes);
    pattern_fill(data, count * st->record_bytes, s->seed + (uint64_t)s->number + 1);
    st->records = room(s, count * sizeof *st->records);
    st->ns = room(s, st->ops * sizeof *st->ns);
    uint64_t x = (s->seed + (uint64_t)s->number) | 1;
    for (size_t i = 0; i < count; i++) {
        x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
        size_t place = in_a_row ? i % places : ((x * UINT64_C(0x2545F4914F6CDD1D)) >> 32) % places;
        st->records[i] = (struct record){data + i * st->record_bytes, st->record_bytes, (off_t)(place * st->record_bytes)};
    }
}

/* Random records go into a file that is all there, so that no write has to find new blocks for it. It is in the page cache as
 * write(2) left it, in pieces that no folio exceeds: what a store into a mapping makes dirty is its whole folio. */
static void fill_file(struct slot *s, struct store *st, int fd)
{
    enum { PIECE = 1 << 17 };
    if ((errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) != 0)
        fail(s, "posix_fadvise");
    for (size_t at = 0; at < st->file_bytes;) {
        size_t left = st->file_bytes - at;
        ssize_t put = pwrite(fd, image + at, left < PIECE ? left : PIECE, (off_t)at);
        if (put <= 0)
            fail(s, "pwrite");
        at += (size_t)put;
    }
    if (fsync(fd) != 0)
        fail(s, "fsync");
}

void store_open(struct slot *s, struct store *st, int flags)
{
    *st = (struct store){.ops = key_size(s, "ops"), .record_bytes = s->bytes, .file_bytes = key_size(s, "file_bytes"),
                         .page_bytes = s->page_bytes};
    bool preallocated = key_is(s, "order", "preallocated"), append = preallocated || key_is(s, "order", "append");
    if (append)
        st->file_bytes = (2 * st->ops * s->bytes + BLOCK - 1) / BLOCK * BLOCK;
    if (s->bytes == 0 || st->file_bytes % BLOCK != 0 || st->file_bytes % (append ? BLOCK : s->bytes) != 0)
        skip(s, "file_bytes is not a multiple of the record and of 4 KiB");
    make_records(s, st);
    snprintf(st->path, sizeof st->path, "%s/%s-records", launch_directory(), launch_name());
    if (append || image_bytes != st->file_bytes) {
        unlink(st->path);
        image_stored = false;
        if (image)
            munmap(image, image_bytes);
        image = room(s, st->file_bytes);
        image_bytes = st->file_bytes;
    }
    st->image = image;
    st->stored_bytes = append ? 2 * st->ops * s->bytes : st->file_bytes;
    int fd = open(st->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        fail(s, "open");
    uint32_t kind = fact_file_system(s, fd);
    bool in_memory = kind == 0x01021994 || kind == 0x858458f6; /* tmpfs, ramfs */
    fact(s, "in_memory", in_memory);
    if (in_memory) {
        unlink(st->path);
        skip(s, "the directory for files lies in memory; name one on a disk");
    }
    if (preallocated && (errno = posix_fallocate(fd, 0, (off_t)st->file_bytes)) != 0)
        fail(s, "posix_fallocate");
    if (preallocated && fsync(fd) != 0)
        fail(s, "fsync");
    bool direct = flags & O_DIRECT;
    if (!append && !(image_stored && direct))
        fill_file(s, st, fd);
    image_stored = !append;
    /* Direct writes would have to throw out what is cached. */
    if (direct && (errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) != 0)
        fail(s, "posix_fadvise");
    close(fd);
    st->fd = open(st->path, O_RDWR | O_CLOEXEC | flags);
    if (st->fd < 0 && errno == EINVAL)
        skip(s, "the file system has no direct I/O");
    if (st->fd < 0)
        fail(s, "open");
    s->ops = st->ops;
    s->phase_bytes = st->ops * st->record_bytes;
}

void store_map(struct slot *s, struct store *st)
{
    if (ftruncate(st->fd, (off_t)st->file_bytes) != 0)
        fail(s, "ftruncate");
    st->map = mmap(NULL, st->file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, st->fd, 0);
    check_map(s, st->map);
}

void store_check(struct slot *s, const struct store *st, size_t done, const char *call)
{
    if (done < 2 * st->ops)
        fail(s, call);
    uint64_t fastest = UINT64_MAX;
    for (size_t i = 0; i < st->ops; i++)
        fastest = st->ns[i] < fastest ? st->ns[i] : fastest;
    fact(s, "fastest_ns", fastest);
    fact(s, "useful_bytes", 2 * st->ops * st->record_bytes);
    latency_record(s, st->ns, st->ops);
}

/* Before anything else is done with the file: nothing may be left for somebody's later sync. Then nothing may be cached. */
static void empty_cache(struct slot *s, int fd)
{
    struct file_pages pages = proved_pages(s, fd);
    fact(s, "dirty_bytes", pages.dirty);
    for (int tries = 0; tries < 8; tries++) {
        if ((errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)) != 0)
            fail(s, "posix_fadvise");
        pages = proved_pages(s, fd);
        if (!pages.cached)
            break;
        usleep(1000U << tries);
    }
    fact(s, "cached_bytes", pages.cached);
}

/* Reads `bytes` of the file back and records the offset of the first that is not as it must be. */
static void read_back(struct slot *s, int fd, const char *expected, size_t bytes)
{
    char *back = room(s, bytes);
    size_t there = 0, at = 0;
    for (ssize_t got; there < bytes && (got = pread(fd, back + there, bytes - there, (off_t)there)) > 0; there += (size_t)got)
        ;
    block_spoil(back, there);
    while (at < there && back[at] == expected[at])
        at++;
    munmap(back, bytes);
    fact(s, "wrong_at", at);
    fact(s, "stored_bytes", bytes);
}

void store_prove(struct slot *s, struct store *st)
{
    if (st->map)
        munmap(st->map, st->file_bytes);
    close(st->fd);
    st->fd = open(st->path, O_RDONLY | O_CLOEXEC);
    if (st->fd < 0)
        fail(s, "open");
    empty_cache(s, st->fd);
    for (size_t i = 0; i < 2 * st->ops; i++)
        memcpy(st->image + st->records[i].at, st->records[i].data, st->records[i].bytes);
    read_back(s, st->fd, st->image, st->stored_bytes);
}

void store_replaced(struct slot *s, struct store *st, int folder, const char *name)
{
    const struct record *last = &st->records[2 * st->ops - 1];
    struct stat status;
    close(st->fd);
    st->fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (st->fd < 0)
        fail(s, "openat");
    if (fstat(st->fd, &status) != 0)
        fail(s, "fstat");
    fact(s, "replaced", (size_t)status.st_size == last->bytes);
    empty_cache(s, st->fd);
    read_back(s, st->fd, last->data, last->bytes);
}

void store_end(struct slot *s, struct store *st)
{
    (void)s;
    munmap((void *)st->records[0].data, 2 * st->ops * st->record_bytes);
    munmap(st->records, 2 * st->ops * sizeof *st->records);
    munmap(st->ns, st->ops * sizeof *st->ns);
    close(st->fd);
}
