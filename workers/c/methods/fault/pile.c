/* What piles up where freed memory stays mapped, and how much may: read from this process's own files, outside any clock. */
#include "pile.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* The number that follows `name` in a small file; `otherwise` where it is not there. An empty name: the file's first word. */
static uint64_t number_after(const char *path, const char *name, uint64_t otherwise)
{
    static char text[1 << 15];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    const char *at = strstr(text, name);
    char *end;
    uint64_t value = at ? strtoull(at + strlen(name), &end, 10) : 0;
    return at && end > at + strlen(name) ? value : otherwise;
}

/* The tightest limit of this process's own memory cgroup, in either version. */
static uint64_t cgroup_limit(void)
{
    char line[512], path[640];
    uint64_t least = UINT64_MAX, limit;
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *own = strrchr(line, ':');
        line[strcspn(line, "\n")] = 0;
        if (!own || !(strstr(line, ":memory:") || strncmp(line, "0::", 3) == 0))
            continue;
        bool first = strstr(line, ":memory:") != NULL;
        snprintf(path, sizeof path,
                 first ? "/sys/fs/cgroup/memory%s/memory.limit_in_bytes" : "/sys/fs/cgroup%s/memory.max", own + 1);
        limit = number_after(path, "", UINT64_MAX);
        least = limit < least ? limit : least;
    }
    if (file)
        fclose(file);
    return least;
}

static uint64_t reclaimed_pages(void)
{
    return number_after("/proc/vmstat", "\npglazyfreed ", 0);
}

void pile_open(struct slot *s, struct pile *pile)
{
    uint64_t wanted = key_size(s, "pile"), left = number_after("/proc/meminfo", "\nMemAvailable:", 0) * 1024;
    struct resident now = resident_in_process(s);
    pile->bounded_by_cgroup = cgroup_limit() <= wanted;
    pile->bound_bytes = pile->bounded_by_cgroup || wanted < left / 2 ? wanted : left / 2;
    pile->rss_bytes = now.rss_bytes;
    pile->lazyfree_bytes = now.lazyfree_bytes;
    pile->reclaimed_pages = reclaimed_pages();
    if (2 * s->bytes > pile->bound_bytes)
        skip(s, arena_text("the mapping takes more than half of the %llu bytes that may pile up",
                           (unsigned long long)pile->bound_bytes));
    if (!key_is(s, "piled", "before"))
        return;
    if (!key_is(s, "release", "free"))
        skip(s, "MADV_DONTNEED leaves nothing that could pile up");
    if (!pile->bounded_by_cgroup)
        skip(s, "keeping all freed pages needs a memory cgroup that bounds it; run as root, or in a cgroup that was delegated to you");
}

void pile_start(struct pile *pile)
{
    pile->reached = 0;
}

void pile_turn(struct slot *s, struct pile *pile, uint64_t made, uint64_t turns)
{
    if (made < (turns * (uint64_t)(pile->reached + 1) + QUARTERS - 1) / QUARTERS || pile->reached == QUARTERS)
        return;
    struct series so_far = series_so_far(s, "first-touch");
    struct resident now = resident_in_process(s);
    pile->quarters[pile->reached++] = (struct quarter){
        made, so_far.wall_ns, so_far.minor_faults, now.rss_bytes - pile->rss_bytes,
        now.lazyfree_bytes - pile->lazyfree_bytes, reclaimed_pages() - pile->reclaimed_pages};
}

bool pile_full(const struct slot *s, const struct pile *pile, uint64_t mapped_bytes)
{
    return key_is(s, "release", "free") && !pile->bounded_by_cgroup && mapped_bytes + s->bytes > pile->bound_bytes;
}

uint64_t pile_bytes(struct slot *s, const struct pile *pile)
{
    return resident_in_process(s).rss_bytes - pile->rss_bytes;
}

void pile_facts(struct slot *s, const struct pile *pile)
{
    struct quarter before = {0};
    struct resident now = resident_in_process(s);
    fact(s, "bound_bytes", pile->bound_bytes);
    fact(s, "bounded_by_cgroup", pile->bounded_by_cgroup);
    fact(s, "pile_bytes", now.rss_bytes - pile->rss_bytes);
    fact(s, "lazyfree_bytes", now.lazyfree_bytes - pile->lazyfree_bytes);
    fact(s, "reclaimed_pages", reclaimed_pages() - pile->reclaimed_pages);
    for (int i = 0; i < pile->reached; i++) {
        const struct quarter *q = &pile->quarters[i];
        fact(s, arena_text("quarter-%d.turns", i + 1), q->turns - before.turns);
        fact(s, arena_text("quarter-%d.wall_ns", i + 1), q->wall_ns - before.wall_ns);
        fact(s, arena_text("quarter-%d.minor_faults", i + 1), q->minor_faults - before.minor_faults);
        fact(s, arena_text("quarter-%d.pile_bytes", i + 1), q->rss_bytes);
        fact(s, arena_text("quarter-%d.lazyfree_bytes", i + 1), q->lazyfree_bytes);
        fact(s, arena_text("quarter-%d.reclaimed_pages", i + 1), q->reclaimed_pages - before.reclaimed_pages);
        before = *q;
    }
}
