/* Files and proofs of the `output` methods. Timed: the phases sync and remove only. */
#include "output.h"
#include "block.h"
#include "latency.h"
#include "methods/fault/kinds.h"
#include "methods/read/read.h"
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static size_t *order;
static size_t order_bytes, written_before;

static uint64_t random_below(uint64_t *state, uint64_t size)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545F4914F6CDD1Du >> 32) * size >> 32;
}

static void choose_order(struct slot *s, struct output *o)
{
    bool pieces = key_is(s, "order", "pieces");
    uint64_t state = s->seed | 1;
    o->step = pieces ? PIECE_BYTES : STEP_BYTES;
    o->steps = (o->bytes + o->step - 1) / o->step;
    if (order)
        munmap(order, order_bytes);
    order_bytes = o->steps * sizeof *order + (o->steps + 1) * sizeof *o->ns;
    order = mmap(NULL, order_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, order);
    o->ns = (uint64_t *)(order + o->steps);
    for (size_t i = 0; i < o->steps; i++)
        order[i] = i * o->step;
    for (size_t i = o->steps; pieces && i > 1; i--) {
        size_t other = random_below(&state, i), at = order[i - 1];
        order[i - 1] = order[other];
        order[other] = at;
    }
    o->at = order;
}

/* Bytes that this process has had file systems take for writing, by the kernel's account; 0 where it keeps none. */
static uint64_t written_bytes(void)
{
    char line[128];
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "write_bytes: %llu", &bytes) != 1)
        ;
    if (file)
        fclose(file);
    return bytes;
}

/* Bytes that the file's device has written, by the kernel's account; UINT64_MAX where it keeps none. */
static uint64_t device_bytes(int file)
{
    struct stat status;
    char path[64];
    unsigned long long sectors = 0;
    if (fstat(file, &status) != 0)
        return UINT64_MAX;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/stat", major(status.st_dev), minor(status.st_dev));
    FILE *account = fopen(path, "re");
    bool known = account && fscanf(account, "%*s %*s %*s %*s %*s %*s %llu", &sectors) == 1;
    if (account)
        fclose(account);
    return known ? sectors * 512 : UINT64_MAX;
}

/* An old file of the same size: written in its order and stored. Each of its pieces holds another piece's bytes. */
static void make_old(struct slot *s, struct output *o)
{
    struct stat status;
    bool cold = key_is(s, "old", "cold");
    output_open(o, o->name, O_CREAT | O_EXCL);
    output_check(s, o);
    for (size_t at = 0; at < o->bytes; at += PIECE_BYTES) {
        size_t size = o->bytes - at < PIECE_BYTES ? o->bytes - at : PIECE_BYTES;
        output_put(o, o->source + (at + PIECE_BYTES + size <= o->bytes ? at + PIECE_BYTES : 0), size, at);
    }
    output_check(s, o);
    check_done(s, fsync(o->file), "fsync");
    check_done(s, fstat(o->file, &status), "fstat");
    size_t cached = cold ? make_cold(s, o->file, o->bytes) : resident_bytes(s, o->file, o->bytes);
    if (cold && cached == o->bytes)
        skip(s, "the file lies in memory and cannot be cold");
    fact(s, "old_bytes", (uint64_t)status.st_size);
    fact(s, "old_cached_bytes", cached);
    o->old_inode = status.st_ino;
    check_done(s, close(o->file), "close");
    o->file = -1;
}

void need_old(struct slot *s)
{
    if (key_is(s, "old", "none"))
        skip(s, "there is no old file to replace");
}

/* The page frames that the file and a buffer will get were in use just before: frames that a host has taken back meanwhile
 * would have to be found first, by whichever method comes upon them. */
void use_frames(struct slot *s, size_t bytes)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check_map(s, p);
    madvise(p, bytes, MADV_HUGEPAGE);
    for (size_t at = 0; at < bytes; at += s->page_bytes)
        p[at] = 1;
    munmap(p, bytes);
}

/* The same for the page cache. Its folios are as large as a write, and free blocks of each size have a list of their own: those
 * of anonymous memory are others. What is removed before it is written back costs the device nothing. */
static void use_cache(struct slot *s, struct output *o)
{
    output_open(o, o->fresh, O_CREAT | O_EXCL);
    for (size_t i = 0; i < o->steps && !o->failed; i++)
        output_put(o, o->source + o->at[i], step_bytes(o, i), o->at[i]);
    output_close(o);
    unlinkat(o->folder, o->fresh, 0);
    output_check(s, o);
}

struct output output_begin(struct slot *s)
{
    struct output o = {.file = -1, .bytes = s->bytes, .page = s->page_bytes};
    if (o.bytes < 2 * PIECE_BYTES || o.bytes % s->page_bytes)
        skip(s, "a large file has at least 128 KiB, in whole pages");
    o.source = block_filled(s, o.bytes);
    choose_order(s, &o);
    s->ops = o.bytes / s->page_bytes;
    o.folder = output_place(s, key_word(s, "place"));
    (void)fact_file_system(s, o.folder);
    snprintf(o.name, sizeof o.name, "%s-output", launch_name());
    snprintf(o.fresh, sizeof o.fresh, "%s-output-fresh", launch_name());
    unlinkat(o.folder, o.name, 0);
    unlinkat(o.folder, o.fresh, 0);
    if (!key_is(s, "old", "none"))
        make_old(s, &o);
    else
        fact(s, "old_bytes", 0);
    check_done(s, syncfs(o.folder), "syncfs"); /* what others left would be written back beside the sample */
    use_frames(s, 2 * o.bytes);
    use_cache(s, &o);
    written_before = written_bytes();
    o.device_before = device_bytes(o.folder);
    bystanders_begin(s);
    o.buffer = free_range(s, o.bytes); /* what the other threads' stacks have left free */
    return o;
}

void output_lost(struct output *o, const char *call)
{
    if (o->failed)
        return;
    o->error = errno;
    o->failed = call;
}

void output_check(struct slot *s, const struct output *o)
{
    if (!o->failed)
        return;
    unlinkat(o->folder, o->name, 0);
    unlinkat(o->folder, o->fresh, 0);
    errno = o->error;
    if (errno == EOPNOTSUPP || (errno == EINVAL && (strcmp(o->failed, "madvise") == 0 || strcmp(o->failed, "openat") == 0)))
        skip(s, refused(o->failed, "this kernel or file system does not have it"));
    fail(s, o->failed);
}

void output_huge(struct slot *s, const struct output *o)
{
    if (s->proofs && !o->map)
        fact(s, "huge_bytes", resident_in(s, o->buffer, o->bytes).huge_bytes);
    else if (s->proofs)
        fact(s, "huge_file_bytes", smaps_bytes(s, o->map, "FilePmdMapped") + smaps_bytes(s, o->map, "ShmemPmdMapped"));
}

/* How many extents the file has on its device; 0 where the file system does not say. */
static uint64_t extents(int file)
{
    struct fiemap map = {.fm_length = FIEMAP_MAX_OFFSET};
    return ioctl(file, FS_IOC_FIEMAP, &map) == 0 ? map.fm_mapped_extents : 0;
}

/* By its name and a new descriptor: what the next program finds. */
static void prove(struct slot *s, struct output *o)
{
    struct stat status;
    uint64_t device = device_bytes(o->folder);
    fact(s, "process_written_bytes", written_bytes() - written_before);
    fact(s, "device_counted", device != UINT64_MAX);
    fact(s, "device_written_bytes", device == UINT64_MAX ? 0 : device - o->device_before);
    output_open(o, o->name, 0);
    output_check(s, o);
    check_done(s, fstat(o->file, &status), "fstat");
    fact(s, "file_bytes", (uint64_t)status.st_size);
    fact(s, "stored_bytes", 512 * (uint64_t)status.st_blocks);
    fact(s, "links", status.st_nlink);
    fact(s, "same_inode", status.st_ino == o->old_inode);
    fact(s, "strays", faccessat(o->folder, o->fresh, F_OK, 0) == 0);
    fact(s, "read_ahead_kib", read_ahead_kib(o->file));
    struct file_pages pages;
    fact(s, "dirty_known", file_pages(s, o->file, &pages));
    fact(s, "dirty_bytes", pages.dirty);
    if ((size_t)status.st_size != o->bytes)
        fail_because(s, "write", "the file has not the size that was asked for");
    char *p = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, o->file, 0);
    check_map(s, p);
    block_prove(s, p, o->bytes);
    munmap(p, o->bytes);
    folio_facts(s, o->file, o->bytes, o->page);
}

static void record_steps(struct slot *s, const struct output *o)
{
    size_t timed = 0;
    for (size_t i = 0; i <= o->steps; i++)
        if (o->ns[i])
            o->ns[timed++] = o->ns[i];
    if (timed)
        latency_record(s, o->ns, timed);
}

void output_end(struct slot *s, struct output *o)
{
    bystanders_end(s);
    output_check(s, o);
    record_steps(s, o);
    if (s->proofs) {
        prove(s, o);
        int synced, removed;
        PHASE(s, "sync") { synced = fsync(o->file); }
        check_done(s, synced, "fsync");
        fact(s, "extents", extents(o->file));
        check_done(s, close(o->file), "close");
        PHASE(s, "remove") { removed = unlinkat(o->folder, o->name, 0); }
        check_done(s, removed, "unlinkat");
    } else
        check_done(s, unlinkat(o->folder, o->name, 0), "unlinkat");
    close(o->folder);
    block_free(s, (char *)o->source, o->bytes);
}
