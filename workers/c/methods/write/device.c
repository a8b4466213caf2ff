/* What the block device below the file says of itself, and what it was seen to do. Never timed. */
#include "write.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static struct counts {
    uint64_t sectors, flushes;
} before;

/* A file of the disk's folder in /sys; a partition's disk is its parent. NULL where the file system has no such device. */
static FILE *of_disk(const struct store *st, const char *name)
{
    struct stat status;
    char path[128];
    if (fstat(st->fd, &status) != 0)
        return NULL;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/partition", major(status.st_dev), minor(status.st_dev));
    const char *up = access(path, F_OK) == 0 ? "/.." : "";
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u%s/%s", major(status.st_dev), minor(status.st_dev), up, name);
    return fopen(path, "re");
}

static bool count(const struct store *st, struct counts *counts)
{
    unsigned long v[17];
    int n = 0;
    FILE *file = of_disk(st, "stat");
    while (file && n < 17 && fscanf(file, "%lu", &v[n]) == 1)
        n++;
    if (file)
        fclose(file);
    /* Flushes are counted since Linux 5.5. */
    *counts = n == 17 ? (struct counts){v[6], v[15]} : (struct counts){0, 0};
    return n == 17;
}

static bool says(const struct store *st, const char *name, const char *word)
{
    char text[32] = "";
    FILE *file = of_disk(st, name);
    if (file) {
        (void)!fgets(text, sizeof text, file);
        fclose(file);
    }
    return strncmp(text, word, strlen(word)) == 0;
}

void device_before(struct slot *s, const struct store *st)
{
    fact(s, "device_seen", count(st, &before));
    fact(s, "volatile_cache", says(st, "queue/write_cache", "write back"));
    fact(s, "fua", says(st, "queue/fua", "1"));
}

/* Where a cache that forgets is emptied, flash is programmed (a page of one bit a cell takes 200 us, others more) or a disk
 * turns (milliseconds). Who is done sooner has a battery or does not keep its word; a host that caches for its guests is such
 * a one. */
enum { LEAST_FLUSH_NS = 100000 };

static const char *named(bool seen, bool forgets, bool flushed, uint64_t fastest_ns)
{
    return !seen      ? "cannot-be-seen"
           : !forgets ? "says-that-it-has-no-volatile-cache"
           : !flushed ? "has-a-volatile-cache-and-was-not-told-to-empty-it"
           : fastest_ns < LEAST_FLUSH_NS ? "empties-its-cache-sooner-than-flash-can-be-written"
                                         : "takes-its-time-to-empty-its-cache";
}

void device_after(struct slot *s, const struct store *st)
{
    struct counts after;
    bool seen = count(st, &after);
    uint64_t written = 512 * (after.sectors - before.sectors), fastest = UINT64_MAX;
    for (size_t i = 0; i < st->ops; i++)
        fastest = st->ns[i] < fastest ? st->ns[i] : fastest;
    fact(s, "device_written_bytes", written);
    fact(s, "written_per_1000_useful", 1000 * written / (2 * st->ops * st->record_bytes));
    fact(s, "foreign_barriers", after.flushes - before.flushes);
    fact_word(s, "device", named(seen, says(st, "queue/write_cache", "write back"), after.flushes > before.flushes, fastest));
}
