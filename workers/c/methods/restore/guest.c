/* The guest of the `restore` methods: its snapshot, its working set, its touches, and the proofs. Timed: the touches only. */
#include "restore.h"
#include "latency.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "methods/read/read.h"

enum { WORK_NS = 200 }; /* what the guest does with a page, besides touching it */

static uint64_t random_below(uint64_t *state, uint64_t size)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545F4914F6CDD1Du >> 32) * size >> 32;
}

static void *room(struct slot *s, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p);
    return p;
}

/* Runs of `run` pages, one at a seeded place in each of as many equal stretches; touched in a seeded order, or ascending. */
static void choose_set(struct slot *s, struct guest *g)
{
    uint64_t state = s->seed | 1;
    size_t pages = g->bytes / g->page, run = key_size(s, "run"), runs = pages * key_size(s, "set") / 100 / run;
    runs = runs ? runs : 1;
    if (pages / runs < run)
        skip(s, "the set has more runs of pages than there is room for");
    size_t stretch = pages / runs;
    g->count = runs * run;
    g->set = room(s, g->count * sizeof *g->set);
    g->touches = room(s, g->count * sizeof *g->touches);
    g->ns = room(s, g->count * sizeof *g->ns);
    for (size_t i = 0, n = 0; i < runs; i++) {
        size_t at = i * stretch + random_below(&state, stretch - run + 1);
        for (size_t k = 0; k < run; k++)
            g->set[n++] = (uint32_t)(at + k);
    }
    memcpy(g->touches, g->set, g->count * sizeof *g->set);
    for (size_t i = g->count; key_is(s, "order", "random") && i > 1; i--) {
        size_t other = random_below(&state, i);
        uint32_t page = g->touches[i - 1];
        g->touches[i - 1] = g->touches[other];
        g->touches[other] = page;
    }
    g->first = g->count / 100 ? g->count / 100 : 1;
    g->writes = key_is(s, "access", "mixed");
}

size_t set_run(const struct guest *g, size_t at)
{
    size_t end = at + 1;
    while (end < g->count && g->set[end] == g->set[end - 1] + 1)
        end++;
    return end - at;
}

static void write_all(struct slot *s, int file, const char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t put = write(file, from + at, bytes - at);
        if (put < 0 && errno == EINTR)
            continue;
        errno = put == 0 ? EIO : errno;
        if (put <= 0)
            fail(s, "write");
        at += (size_t)put;
    }
}

bool read_all(int file, char *to, size_t bytes, size_t offset)
{
    for (size_t at = 0; at < bytes;) {
        ssize_t got = pread(file, to + at, bytes - at, (off_t)(offset + at));
        if (got < 0 && errno == EINTR)
            continue;
        errno = got == 0 ? EIO : errno;
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

/* A file in the launch's folder with these pages of the snapshot, or all; made by whichever clone comes first. */
static int prepared(struct slot *s, const struct guest *g, const uint32_t *pages, size_t count)
{
    char path[4096];
    struct stat status;
    uint64_t digest = pages ? digest_of(pages, count * sizeof *pages) : 0;
    snprintf(path, sizeof path, "%s/snapshot-%zu-%llx", launch_directory() ? launch_directory() : ".", g->bytes,
             (unsigned long long)digest);
    int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        fail(s, "open");
    check_done(s, flock(file, LOCK_EX), "flock");
    check_done(s, fstat(file, &status), "fstat");
    if ((size_t)status.st_size != count * g->page) {
        uint64_t *page = room(s, g->page);
        check_done(s, ftruncate(file, 0), "ftruncate");
        for (size_t i = 0; i < count; i++) {
            size_t first = (pages ? pages[i] : i) * g->page / 8;
            for (size_t k = 0; k < g->page / 8; k++)
                page[k] = pattern_word(s->seed, first + k);
            write_all(s, file, (char *)page, g->page);
        }
        munmap(page, g->page);
        check_done(s, fdatasync(file), "fdatasync");
    }
    check_done(s, flock(file, LOCK_UN), "flock");
    return file;
}

/* Bytes that this process had the devices read, by the kernel's account; 0 where it keeps none. */
static uint64_t own_device_bytes(void)
{
    char line[128];
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "read_bytes: %llu", &bytes) != 1)
        ;
    if (file)
        fclose(file);
    return bytes;
}

static uint64_t device_before;

static void set_cache(struct slot *s, struct guest *g)
{
    bool cold = key_is(s, "cache", "cold");
    struct stat compact;
    /* Clones share it: one would evict what another has just loaded. */
    while (flock(g->snapshot, LOCK_EX) != 0 && errno == EINTR)
        ;
    if (g->compact >= 0 && fstat(g->compact, &compact) == 0)
        (cold ? make_cold : make_hot)(s, g->compact, (size_t)compact.st_size);
    size_t cached = (cold ? make_cold : make_hot)(s, g->snapshot, g->bytes);
    if (cold && cached == g->bytes)
        skip(s, "the snapshot lies in memory and cannot be cold: the temporary folder must be on a disk (TMPDIR)");
    (void)flock(g->snapshot, LOCK_UN);
    fact(s, "cached_before_bytes", cached);
    fact(s, "read_ahead_kib", read_ahead_kib(g->snapshot));
    device_before = own_device_bytes();
}

struct guest guest_begin(struct slot *s, enum files files)
{
    s->bytes = key_size(s, "bytes"); /* each clone has all of it */
    struct guest g = {.bytes = s->bytes, .page = s->page_bytes, .snapshot = -1, .compact = -1};
    choose_set(s, &g);
    s->ops = g.count;
    s->phase_bytes = g.count * g.page;
    g.p = free_range(s, g.bytes);
    if (files != NO_FILE)
        g.snapshot = prepared(s, &g, NULL, g.bytes / g.page);
    if (files == SNAPSHOT_AND_SET)
        g.compact = prepared(s, &g, g.set, g.count);
    if (files != NO_FILE)
        set_cache(s, &g);
    return g;
}

void guest_lost(struct guest *g, const char *call)
{
    if (g->failed)
        return;
    g->failed = call;
    g->error = errno;
}

void guest_check(struct slot *s, const struct guest *g)
{
    errno = g->error;
    check_done(s, g->failed != NULL, g->failed);
}

void *guest_map(struct guest *g, int flags, int file)
{
    void *p = mmap(g->p, g->bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, file, 0);
    if (p == MAP_FAILED)
        guest_lost(g, "mmap");
    return p;
}

void need_pool(struct slot *s, size_t bytes)
{
    if (key_size(s, "clones") > 1)
        skip(s, "the pool of huge pages is for one clone: clones=1");
    if (!s->huge_page_bytes || bytes % s->huge_page_bytes)
        skip(s, NO_WHOLE_HUGE_PAGES);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (p == MAP_FAILED)
        skip(s, "the pool of huge pages is too small; --allow-system-changes enlarges it (vm.nr_hugepages)");
    check_done(s, munmap(p, bytes), "munmap");
}

int filled_memory_file(struct slot *s, const struct guest *g, unsigned flags)
{
    int file = memfd_create("pagewise-snapshot", memfd_flags() | flags);
    const char *obstacle = memfd_obstacle(file);
    if (obstacle)
        skip(s, obstacle);
    if (file < 0)
        fail(s, "memfd_create");
    check_done(s, ftruncate(file, (off_t)g->bytes), "ftruncate");
    char *p = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    check_map(s, p);
    pattern_fill(p, g->bytes, s->seed);
    munmap(p, g->bytes);
    return file;
}

/* The guest's life: the touch is timed alone, then the page is worked with until its time is over. */
static void touch(const struct guest *g, size_t from, size_t to, uint64_t mark)
{
    char *p = g->p;
    const uint32_t *touches = g->touches;
    size_t page = g->page;
    uint64_t *ns = g->ns, before = now_ns(), after;
    bool writes = g->writes;
    for (size_t i = from; i < to; i++) {
        volatile uint64_t *word = (volatile uint64_t *)(p + touches[i] * page);
        if (writes && i % 2 == 0)
            word[1] = mark;
        else
            (void)word[0];
        ns[i] = (after = now_ns()) - before;
        while ((before = now_ns()) - after < WORK_NS)
            ;
    }
}

/* Words of one page that are not the snapshot's, but for the one that was written to. */
static size_t wrong_in_page(const struct slot *s, const struct guest *g, size_t page, bool written)
{
    const uint64_t *words = (const uint64_t *)(g->p + page * g->page);
    size_t wrong = 0, per_page = g->page / 8;
    for (size_t k = 0; k < per_page; k++)
        wrong += words[k] != (written && k == 1 ? (s->seed | 1) : pattern_word(s->seed, page * per_page + k));
    return wrong;
}

static void prove_set(struct slot *s, const struct guest *g)
{
    size_t wrong = 0, touched = 0, written = 0;
    uint64_t digest = 0;
    for (size_t i = 0; i < g->count; i++) {
        size_t page = g->touches[i];
        bool writes = g->writes && i % 2 == 0;
        wrong += wrong_in_page(s, g, page, writes);
        touched += g->ns[i] > 0;
        written += writes;
        digest += digest_of(g->p + page * g->page, g->page) * (2 * i + 1);
    }
    fact(s, "set_pages", g->count);
    fact(s, "touched_pages", touched);
    fact(s, "written_pages", written);
    fact(s, "wrong_words", wrong);
    fact_digest_value(s, digest);
}

static size_t read_rest(const struct guest *g)
{
    size_t seen = 0, pages = g->bytes / g->page;
    for (size_t page = 0, next = 0; page < pages; page++) {
        if (next < g->count && g->set[next] == page)
            next++;
        else
            seen += *(const volatile uint64_t *)(g->p + page * g->page) != 0;
    }
    return seen;
}

static size_t wrong_in_rest(const struct slot *s, const struct guest *g)
{
    size_t wrong = 0, pages = g->bytes / g->page;
    for (size_t page = 0, next = 0; page < pages; page++) {
        if (next < g->count && g->set[next] == page)
            next++;
        else
            wrong += wrong_in_page(s, g, page, false);
    }
    return wrong;
}

/* Pages that are there and no file's (bits 63 and 61 of their entries), also huge ones of the pool. */
static uint64_t private_bytes(struct slot *s, const struct guest *g)
{
    uint64_t entries[512], found = 0;
    size_t first = (uintptr_t)g->p / g->page, end = first + g->bytes / g->page;
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        fail(s, "open /proc/self/pagemap");
    for (size_t want; first < end; first += want) {
        want = end - first < 512 ? end - first : 512;
        if (!read_all(file, (char *)entries, want * sizeof *entries, first * sizeof *entries))
            fail(s, "read /proc/self/pagemap");
        for (size_t i = 0; i < want; i++)
            found += entries[i] >> 63 && !(entries[i] >> 61 & 1);
    }
    close(file);
    return found * g->page;
}

void guest_work(struct slot *s, struct guest *g)
{
    uint64_t mark = s->seed | 1;
    s->ops = g->first;
    PHASE(s, "first") { touch(g, 0, g->first, mark); }
    s->ops = g->count - g->first;
    PHASE(s, "work") { touch(g, g->first, g->count, mark); }
    guest_check(s, g);
    latency_record(s, g->ns, g->count);
    if (!s->proofs)
        return;
    if (g->snapshot >= 0)
        fact(s, "device_bytes", own_device_bytes() - device_before);
    fact(s, "private_bytes", private_bytes(s, g));
    prove_set(s, g);
}

void guest_rest(struct slot *s, struct guest *g)
{
    if (!s->proofs)
        return;
    s->ops = g->bytes / g->page - g->count;
    PHASE(s, "rest") { read_rest(g); }
    guest_check(s, g);
    fact(s, "rest_wrong_words", wrong_in_rest(s, g));
}

void guest_rest_by(struct slot *s, struct guest *g, void (*work)(const struct part *))
{
    if (!s->proofs)
        return;
    s->ops = g->bytes / g->page - g->count;
    PARALLEL_PHASE(s, "rest") { on_every_thread(s, work, g->p, g->bytes, 0); }
    guest_check(s, g);
    fact(s, "rest_wrong_words", wrong_in_rest(s, g));
}

void guest_unmap(struct guest *g)
{
    if (munmap(g->p, g->bytes) != 0)
        guest_lost(g, "munmap");
}

void guest_end(struct slot *s, struct guest *g)
{
    guest_check(s, g);
    munmap(g->set, g->count * sizeof *g->set);
    munmap(g->touches, g->count * sizeof *g->touches);
    munmap(g->ns, g->count * sizeof *g->ns);
    if (g->snapshot >= 0)
        close(g->snapshot);
    if (g->compact >= 0)
        close(g->compact);
}
