/* The files of the `interference` methods, what of them is cached, and the proofs. Never timed. */
#include "interference.h"
#include "io.h"
#include "methods/output/ring.h"
#include "methods/read/cache.h"
#include "victim.h"
#include <stdio.h>


enum { SYNCED_STEPS = 8 };

/* A file of the pattern, made once a process in the launch's folder. */
struct made_file {
    const char *name;
    char path[512];
    int fd;
    size_t bytes;
    uint64_t sum; /* of its words */
};
static struct made_file hot = {.name = "hot", .fd = -1}, scanned = {.name = "scanned", .fd = -1};
static char written_path[512];
static char *step;          /* STEP_BYTES of memory */
static struct victim *victim;
static struct io io_before;
static struct charges charges_before;

static void path_of(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s-%s-%d", launch_directory(), launch_name(), name, getpid());
}

static char *step_memory(struct slot *s)
{
    if (!step) {
        step = mmap(NULL, STEP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        check_map(s, step);
    }
    return step;
}

static void make_file(struct slot *s, struct made_file *f, size_t bytes)
{
    if (f->bytes == bytes)
        return;
    if (f->fd >= 0) {
        close(f->fd);
        unlink(f->path);
    }
    f->bytes = f->sum = 0;
    path_of(f->path, f->name);
    f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (f->fd < 0)
        fail(s, "open");
    file_on_device(s, f->fd);
    uint64_t *words = (uint64_t *)step_memory(s);
    for (size_t at = 0; at < bytes; at += STEP_BYTES) {
        for (size_t i = 0; i < STEP_BYTES / 8; i++)
            f->sum += words[i] = pattern_word(s->seed, at / 8 + i);
        for (size_t done = 0; done < STEP_BYTES;) {
            ssize_t put = pwrite(f->fd, (char *)words + done, STEP_BYTES - done, (off_t)(at + done));
            if (put < 0 && errno != EINTR)
                fail(s, "pwrite");
            done += put > 0 ? (size_t)put : 0;
        }
        /* The bound is never full of what is dirty. */
        if ((at / STEP_BYTES % SYNCED_STEPS == SYNCED_STEPS - 1 || at + STEP_BYTES >= bytes) && fdatasync(f->fd) != 0)
            fail(s, "fdatasync");
    }
    f->bytes = bytes;
}

static void open_target(struct slot *s, struct scan *w, int flags)
{
    path_of(written_path, "written");
    unlink(written_path);
    w->target = open(written_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0600);
    if (w->target < 0 && (errno == EINVAL || errno == EOPNOTSUPP) && flags)
        skip(s, refused("open for O_DIRECT", "the file system of the run's folder lacks it: --out names another one"));
    if (w->target < 0)
        fail(s, "open");
}

static void open_source(struct slot *s, struct scan *w, int flags)
{
    make_file(s, &scanned, w->bytes);
    w->file = open(scanned.path, O_RDONLY | O_CLOEXEC | flags);
    if (w->file < 0 && errno == EINVAL && flags)
        skip(s, refused("open for O_DIRECT", "the file system of the run's folder lacks it: --out names another one"));
    if (w->file < 0)
        fail(s, "open");
    fact(s, "scan_before_bytes", make_cold(s, scanned.fd, w->bytes));
    fact(s, "read_ahead_kib", read_ahead_kib(scanned.fd));
}

static void start_victim(struct slot *s)
{
    size_t bytes = key_size(s, "hot");
    if (bytes == 0 || bytes % STEP_BYTES != 0)
        skip(s, "the hot set is of whole MiB");
    charges_before = charges_so_far(s);
    if (charges_before.limit_bytes && charges_before.limit_bytes < bytes + bytes / 2)
        skip(s, "the bound leaves the worker less than half of what the hot set has: nothing but misses would be measured");
    make_file(s, &hot, bytes);
    (void)make_cold(s, hot.fd, bytes);
    victim = victim_start(s, hot.fd, bytes);
    if (s->proofs)
        fact(s, "hot_before_bytes", resident_bytes(s, hot.fd, bytes));
    charges_before = charges_so_far(s);
    io_before = io_so_far();
    victim_go(victim);
}

static struct scan scan_of(struct slot *s)
{
    struct scan w = {.bytes = s->bytes, .page = s->page_bytes, .file = -1, .target = -1, .buffer = step_memory(s),
                     .pace = key_size(s, "pace"), .at_a_time = key_size(s, "hot") * 5 / 4};
    w.work = key_is(s, "work", "write")    ? WRITES
             : key_is(s, "work", "copy")   ? COPIES
             : key_is(s, "work", "memory") ? FILLS
                                           : READS;
    if (s->bytes % STEP_BYTES != 0 || w.pace % STEP_BYTES != 0)
        skip(s, "bytes and pace are whole MiB, since each call moves one");
    s->ops = s->bytes / STEP_BYTES;
    return w;
}

struct scan scan_begin(struct slot *s, int flags)
{
    struct scan w = scan_of(s);
    if (w.work == READS || w.work == COPIES)
        open_source(s, &w, w.work == READS ? flags : 0);
    if (w.work == WRITES || w.work == COPIES)
        open_target(s, &w, w.work == WRITES ? flags : 0);
    if (w.work == WRITES)
        pattern_fill(w.buffer, STEP_BYTES, s->seed);
    w.place = free_range(s, w.bytes);
    start_victim(s);
    return w;
}

struct scan scan_none(struct slot *s)
{
    struct scan w = scan_of(s);
    start_victim(s);
    return w;
}

void scan_lost(struct scan *w, const char *call)
{
    if (w->failed)
        return;
    w->error = errno ? errno : EIO;
    w->failed = call;
}

/* The sum of a file's words, read past the page cache. */
static uint64_t sum_of_file(struct slot *s, const char *path, size_t bytes)
{
    uint64_t sum = 0;
    int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0)
        fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(s, "open");
    for (size_t at = 0; at < bytes; at += STEP_BYTES) {
        if (pread(fd, step, STEP_BYTES, (off_t)at) != STEP_BYTES)
            fail(s, "pread");
        sum += sum_of(step, STEP_BYTES);
    }
    close(fd);
    return sum;
}

/* The sum that the worker's bytes must have: of the pattern, of the stamped steps, or of the numbers of the pages. */
static uint64_t expected_sum(struct slot *s, const struct scan *w)
{
    uint64_t unstamped = 0, steps = w->bytes / STEP_BYTES, pages = w->bytes / w->page;
    if (w->work == FILLS)
        return pages * (pages - 1) / 2;
    if (w->work != WRITES)
        return scanned.sum;
    for (size_t i = 1; i < STEP_BYTES / 8; i++)
        unstamped += pattern_word(s->seed, i);
    return steps * unstamped + steps * (steps - 1) / 2;
}

static void prove(struct slot *s, struct scan *w)
{
    if (w->work == COPIES || w->work == WRITES) {
        fact(s, "unwritten_bytes", proved_pages(s, w->target).dirty);
        fact(s, "left_bytes", resident_bytes(s, w->work == COPIES ? scanned.fd : w->target, w->bytes));
        w->sum = sum_of_file(s, written_path, w->bytes);
    } else if (w->work == READS) {
        fact(s, "left_bytes", resident_bytes(s, scanned.fd, w->bytes));
        if (w->unseen)
            w->sum = sum_of_file(s, scanned.path, w->bytes);
    }
    uint64_t expected = expected_sum(s, w);
    fact(s, "wrong_sum", w->sum != expected);
    fact_digest_value(s, w->sum);
}

static void close_files(struct scan *w)
{
    if (w->file >= 0)
        close(w->file);
    if (w->target >= 0) {
        close(w->target);
        unlink(written_path);
    }
    if (scanned.fd >= 0) /* What is left of it makes no difference to the next worker. */
        posix_fadvise(scanned.fd, 0, 0, POSIX_FADV_DONTNEED);
}

static void end_victim(struct slot *s)
{
    struct io io_after = io_so_far();
    victim_stop(s, victim);
    if (!s->proofs)
        return;
    struct charges after = charges_so_far(s);
    fact(s, "called_read_bytes", io_after.called_read - io_before.called_read);
    fact(s, "called_written_bytes", io_after.called_written - io_before.called_written);
    fact(s, "device_read_bytes", io_after.device_read - io_before.device_read);
    fact(s, "device_written_bytes", io_after.device_written - io_before.device_written);
    fact(s, "limit_bytes", after.limit_bytes);
    fact(s, "peak_bytes", after.peak_bytes);
    fact(s, "bound_hits", after.hits - charges_before.hits);
    fact(s, "refault_pages", after.refaults - charges_before.refaults);
    fact(s, "hot_after_bytes", resident_bytes(s, hot.fd, hot.bytes));
}

void scan_end(struct slot *s, struct scan *w)
{
    end_victim(s);
    if (w->failed) {
        close_files(w);
        errno = w->error;
        fail(s, w->failed);
    }
    fact(s, "moved_bytes", w->moved);
    if (s->proofs && w->moved)
        prove(s, w);
    close_files(w);
}

void scan_skip(struct slot *s, struct scan *w, const char *reason)
{
    end_victim(s);
    close_files(w);
    skip(s, reason);
}
