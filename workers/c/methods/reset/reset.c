/* Preparing and proving of the `reset` methods. Only the phases use, reset and others-owe are timed. */
#include "reset.h"
#include "latency.h"
#include <fcntl.h>

enum { WARM_CYCLES = 6, TIMED_CYCLES = 256, TIMED_BYTES = 256 << 20 };

static uint32_t *room_for_pages(struct slot *s, const struct region *r)
{
    uint32_t *list = mmap(NULL, r->bytes / r->page * sizeof *list, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, list);
    return list;
}

/* Dirty pages in one run from a seeded place, or evenly spread over all; the pages read are behind them. */
static void choose_pages(struct slot *s, struct region *r)
{
    size_t pages = r->bytes / r->page, count = pages * key_size(s, "dirty") / 100, runs = 0, wanted;
    count = count < 1 ? 1 : count > pages ? pages : count;
    bool run = key_is(s, "scatter", "run");
    size_t from = run ? pattern_word(s->seed, 1) % (pages - count + 1) : 0;
    r->dirty = room_for_pages(s, r);
    r->read = room_for_pages(s, r);
    r->dirty_pages = count;
    for (size_t i = 0; i < count; i++) {
        r->dirty[i] = (uint32_t)(run ? from + i : i * pages / count);
        runs += i == 0 || r->dirty[i] != r->dirty[i - 1] + 1;
    }
    wanted = key_is(s, "read", "same") ? (count < pages - count ? count : pages - count) : 0;
    for (size_t page = 0, next = 0; page < pages && r->read_pages < wanted; page++) {
        if (next < count && r->dirty[next] == page)
            next++;
        else if ((page + 1) * wanted / pages > r->read_pages || pages - page <= wanted - r->read_pages + count - next)
            r->read[r->read_pages++] = (uint32_t)page;
    }
    fact(s, "dirty_pages", count);
    fact(s, "read_pages", r->read_pages);
    fact(s, "runs", runs);
}

/* The image as a sealed memory file, with a mapping to copy from and to compare with. */
static void make_image(struct slot *s, struct region *r, bool pattern)
{
    r->file = memfd_create("pagewise-image", memfd_flags() | MFD_ALLOW_SEALING);
    const char *obstacle = memfd_obstacle(r->file);
    if (obstacle)
        skip(s, obstacle);
    if (r->file < 0)
        fail(s, "memfd_create");
    check_done(s, ftruncate(r->file, (off_t)r->bytes), "ftruncate");
    char *to = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->file, 0);
    check_map(s, to);
    if (pattern)
        pattern_fill(to, r->bytes, s->seed);
    else
        memset(to, 0, r->bytes);
    check_done(s, munmap(to, r->bytes), "munmap");
    check_done(s, fcntl(r->file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "fcntl");
    if (!pattern)
        return;
    void *image = mmap(NULL, r->bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, r->file, 0);
    check_map(s, image);
    r->image = image;
}

static void map_region(struct region *r, int flags, int file)
{
    void *p = mmap(r->p, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, file, 0);
    if (p == MAP_FAILED)
        region_lost(r, "mmap");
}

void region_map(struct region *r, int more_flags)
{
    map_region(r, MAP_ANONYMOUS | more_flags, -1);
    if (r->huge && !r->failed && madvise(r->p, r->bytes, MADV_HUGEPAGE) != 0)
        region_lost(r, "madvise");
}

static void check_region(struct slot *s, const struct region *r)
{
    errno = r->error;
    check_done(s, r->failed != NULL, r->failed);
}

void need_base_pages(struct slot *s)
{
    if (key_is(s, "pages", "huge"))
        skip(s, "this method has base pages: a private mapping of a file, or pages whose writes are noted one by one");
}

struct region region_begin(struct slot *s, enum backing backing)
{
    struct region r = {.bytes = s->bytes, .page = s->page_bytes, .file = -1, .word = s->seed | 1, .slot = s};
    bool huge = r.huge = key_is(s, "pages", "huge"), pattern = key_is(s, "image", "pattern");
    bool over_file = backing == OVER_FILE || (backing == OVER_IMAGE && pattern);
    if (over_file || backing == TRACKED)
        need_base_pages(s);
    if (huge)
        need_huge_pages(s);
    if (huge && r.bytes % s->huge_page_bytes != 0)
        skip(s, NO_WHOLE_HUGE_PAGES);
    if (huge && s->threads > 1 && r.bytes < s->threads * s->huge_page_bytes)
        skip(s, "less than one huge page per thread");
    if (!huge)
        forbid_huge_pages(s, true); /* of the process: a mapping made anew in a phase needs no advice then */
    r.others = others_open(s);
    bool seen = shootdowns_interrupt(s, r.others);
    if (pattern || backing == OVER_FILE)
        make_image(s, &r, pattern);
    r.p = free_range(s, r.bytes);
    if (over_file)
        map_region(&r, MAP_FIXED_NOREPLACE, r.file);
    else
        region_map(&r, MAP_FIXED_NOREPLACE);
    check_region(s, &r);
    if (!over_file)
        restore_image(&r);
    choose_pages(s, &r);
    fact(s, "interrupts_seen", seen);
    return r;
}

void need_ranges(struct slot *s)
{
    size_t page = key_is(s, "pages", "huge") ? s->huge_page_bytes : s->page_bytes;
    if (page && s->bytes % (RANGES * page) != 0)
        skip(s, "bytes cannot be divided into sixteen ranges of whole pages");
}

void region_end(struct region *r)
{
    others_close(r->others);
    munmap(r->dirty, r->bytes / r->page * sizeof *r->dirty);
    munmap(r->read, r->bytes / r->page * sizeof *r->read);
    munmap(r->p, r->bytes);
    if (r->image)
        munmap((void *)r->image, r->bytes);
    if (r->file >= 0)
        close(r->file);
}

void region_lost(struct region *r, const char *call)
{
    if (r->failed)
        return;
    r->failed = call;
    r->error = errno;
}

/* One word written to each dirty page, one read from each of the others. */
void region_use(struct region *r)
{
    char *p = r->p;
    size_t page = r->page, dirty = r->dirty_pages, read = r->read_pages;
    const uint32_t *list = r->dirty, *others = r->read;
    uint64_t word = r->word;
    for (size_t i = 0; i < dirty; i++)
        *(volatile uint64_t *)(p + list[i] * page) = word;
    for (size_t i = 0; i < read; i++)
        (void)*(const volatile uint64_t *)(p + others[i] * page);
}

size_t region_used(const struct region *r)
{
    size_t used = 0;
    for (size_t i = 0; i < r->dirty_pages; i++)
        used += *(const uint64_t *)(r->p + r->dirty[i] * r->page) == r->word;
    return used;
}

static size_t wrong_words(const struct slot *s, const struct region *r)
{
    const uint64_t *p = (const uint64_t *)r->p, *image = (const uint64_t *)r->image;
    size_t wrong = 0;
    for (size_t i = 0; s->proofs && i < r->bytes / 8; i++)
        wrong += p[i] != (image ? image[i] : 0);
    return wrong;
}

/* A reset outside of its phase: threads that share it are woken first. */
static void reset_untimed(struct region *r, void (*reset)(struct region *))
{
    pool_wake(r->slot);
    reset(r);
}

/* One use of all pages, and the way back from it. */
static void use_all_once(struct slot *s, struct region *r, void (*use)(struct region *), void (*reset)(struct region *))
{
    struct region usual = *r;
    r->dirty = room_for_pages(s, r);
    r->dirty_pages = r->bytes / r->page;
    for (size_t i = 0; i < r->dirty_pages; i++)
        r->dirty[i] = (uint32_t)i;
    use(r);
    reset_untimed(r, reset);
    munmap(r->dirty, r->bytes / r->page * sizeof *r->dirty);
    r->dirty = usual.dirty;
    r->dirty_pages = usual.dirty_pages;
    check_region(s, r);
}

static void warm_up(struct slot *s, struct region *r, void (*use)(struct region *), void (*reset)(struct region *))
{
    if (key_is(s, "history", "whole"))
        use_all_once(s, r, use, reset);
    for (int cycle = 0; cycle < WARM_CYCLES; cycle++) {
        use(r);
        if (cycle == WARM_CYCLES - 1 && s->proofs) {
            if (use == region_use)
                r->used = region_used(r);
            fact(s, "huge_bytes", resident_in(s, r->p, r->bytes).huge_bytes);
        }
        reset_untimed(r, reset);
        check_region(s, r);
    }
    fact(s, "used_pages", r->used);
}

/* Each cycle by itself: its largest is what one user of the region waits for. As many as clear 256 MiB, 256 at most. */
static void time_cycles(struct slot *s, struct region *r, void (*use)(struct region *), void (*reset)(struct region *))
{
    struct region measured = *r;
    uint64_t ns[TIMED_CYCLES], last = now_ns();
    size_t fit = TIMED_BYTES / r->bytes, count = fit < 1 ? 1 : fit < TIMED_CYCLES ? fit : TIMED_CYCLES;
    for (size_t i = 0; i < count && !r->failed; i++) { /* where a call failed there may be no memory to use */
        use(r);
        reset_untimed(r, reset);
        uint64_t now = now_ns();
        ns[i] = now - last;
        last = now;
    }
    check_region(s, r);
    latency_record(s, ns, count);
    *r = measured;
}

void reset_cycles_by(struct slot *s, struct region *r, void (*use)(struct region *), void (*reset)(struct region *))
{
    s->ops = r->dirty_pages;
    warm_up(s, r, use, reset);
    bool alone = r->others->count == 0;
    uint64_t counted = alone ? 0 : tlb_shootdowns();
    others_start(r->others);
    /* Reading the count took a while and the caches: one more cycle goes before the measured one. */
    use(r);
    reset_untimed(r, reset);
    if (r->failed)
        others_stop(r->others);
    check_region(s, r);
    r->restored = r->scans = r->found = 0;
    r->timed = true;
    PHASE(s, "use") { use(r); }
    PARALLEL_PHASE(s, "reset") { reset(r); }
    others_stop(r->others);
    fact(s, "foreign_shootdowns", alone ? 0 : tlb_shootdowns() - counted); /* in both */
    check_region(s, r);
    fact(s, "restored_bytes", r->restored);
    fact(s, "rss_bytes", resident_in(s, r->p, r->bytes).rss_bytes);
    others_compare(s, r->others);
    others_arm(r->others, true);
    PHASE(s, "others-owe") { others_catch_up(r->others); }
    fact(s, "wrong_words", wrong_words(s, r));
    fact_digest(s, r->p, r->bytes);
    if (latency_due(s) && s->threads == 1)
        time_cycles(s, r, use, reset);
}

void reset_cycles(struct slot *s, struct region *r, void (*reset)(struct region *))
{
    reset_cycles_by(s, r, region_use, reset);
}
