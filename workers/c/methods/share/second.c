/* The second process: what it pays for memory that is there already, and what each side sees of the other's stores. */
#include "share.h"
#include <stdio.h>
#include <sys/resource.h>

/* Where the sides leave things for each other: the numbers in the last page, one byte of each of b's stores in every page.
 * Java's side has the same places. */
enum { NUMBER_OF_A = 16, NUMBER_OF_B = 24, AFTER_READ = 8, AT_ONCE = 9 };
enum { AFTER_READ_MARK = 0xB1, AT_ONCE_MARK = 0xB2 };

static uint64_t *number_at(const struct slot *s, char *p, int place)
{
    return (uint64_t *)(p + s->bytes - s->page_bytes + place);
}

/* Another in every slot, so that none is found that was left there before. */
static uint64_t number_of(const struct slot *s, char side)
{
    return pattern_word(s->seed ^ (unsigned char)side, (uint64_t)s->number) >> 33 | 1;
}

void first_number(struct slot *s, char *p)
{
    *number_at(s, p, NUMBER_OF_A) = number_of(s, 'a');
    fact(s, "number", number_of(s, 'a'));
}

void first_finds(struct slot *s, char *p)
{
    uint64_t found = 0;
    fact(s, "number_seen", *number_at(s, p, NUMBER_OF_B));
    for (size_t i = 0; i < s->bytes; i += s->page_bytes) {
        found += (unsigned char)p[i + AFTER_READ] == AFTER_READ_MARK;
        found += (unsigned char)p[i + AT_ONCE] == AT_ONCE_MARK;
        p[i + AFTER_READ] = p[i + AT_ONCE] = 0;
    }
    *number_at(s, p, NUMBER_OF_A) = *number_at(s, p, NUMBER_OF_B) = 0;
    fact(s, "b_stores_seen", found);
}

void seat_map(struct seat *b)
{
    b->p = mmap(b->at, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->descriptor, 0);
    b->call = "mmap";
}

void seat_unmap(struct seat *b)
{
    b->left = munmap(b->p, b->bytes);
}

static uint64_t faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

void second_read(struct slot *s, struct seat *b)
{
    const volatile char *p = b->p;
    size_t bytes = s->bytes, page = s->page_bytes;
    char mark = (char)(s->seed | 1);
    uint64_t seen = 0;
    s->ops = bytes / page;
    PHASE(s, "first-read") {
        for (size_t i = 0; i < bytes; i += page)
            seen += p[i] == mark;
    }
    fact(s, "b.marks_seen", seen);
    volatile char *q = b->p;
    PHASE(s, "write-after-read") {
        for (size_t i = 0; i < bytes; i += page)
            q[i + AFTER_READ] = (char)AFTER_READ_MARK;
    }
    fact(s, "b.number_seen", *number_at(s, b->p, NUMBER_OF_A));
    *number_at(s, b->p, NUMBER_OF_B) = number_of(s, 'b');
    fact(s, "b.number", number_of(s, 'b'));
    s->ops = 1;
}

void second_write(struct slot *s, struct seat *b)
{
    volatile char *p = b->p;
    size_t bytes = s->bytes, page = s->page_bytes;
    s->ops = bytes / page;
    PHASE(s, "first-write") {
        for (size_t i = 0; i < bytes; i += page)
            p[i + AT_ONCE] = (char)AT_ONCE_MARK;
    }
    s->ops = 1;
    fact(s, "b.huge_bytes", resident_in(s, b->p, bytes).huge_bytes);
}

void second_populate(struct slot *s, struct seat *b)
{
    char *p = b->p;
    size_t bytes = s->bytes, page = s->page_bytes;
    int result;
    s->ops = bytes / page;
    PHASE(s, "populate") {
        result = madvise(p, bytes, MADV_POPULATE_WRITE);
        if (result != 0 && errno == EINVAL) /* before Linux 5.14: locking populates as well */
            result = mlock(p, bytes);
    }
    if (result != 0)
        fail(s, "madvise, mlock");
    s->ops = 1;
    uint64_t before = faults();
    for (size_t i = 0; i < bytes; i += page)
        ((volatile char *)p)[i + AT_ONCE] = (char)AT_ONCE_MARK;
    fact(s, "b.faults_after_populate", faults() - before);
    fact(s, "b.runtime_faults", 0);
}

static void again(struct slot *s, struct seat *b, seat_work *attach)
{
    attach(b);
    if (b->p == MAP_FAILED)
        fail(s, b->call);
    check_done(s, b->left, "close");
}

void share_second(struct slot *s, struct seat *b, seat_work *attach, seat_work *detach)
{
    /* Once before the clock: else the first calls after a while of waiting would be timed with it. */
    again(s, b, attach);
    detach(b);
    check_done(s, b->left, "munmap, shmdt");
    PHASE(s, "attach") { attach(b); }
    if (b->p == MAP_FAILED)
        fail(s, b->call);
    check_done(s, b->left, "close");
    second_read(s, b);
    PHASE(s, "detach") { detach(b); }
    check_done(s, b->left, "munmap, shmdt");
    again(s, b, attach);
    second_write(s, b);
    detach(b);
    check_done(s, b->left, "munmap, shmdt");
    again(s, b, attach);
    second_populate(s, b);
    detach(b);
    check_done(s, b->left, "munmap, shmdt");
    meet(s); /* a may look */
    remove_if_lost(NULL);
}
