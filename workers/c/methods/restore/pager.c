/* Pagers by userfaultfd(2): what they share. Their answers are timed, by the phases that the guest is in. */
#include "restore.h"
#include <sched.h>
#include <stdlib.h>

/* Linux 6.6; for the test that a page which nobody may serve is noticed. */
enum { FEATURE_POISON = 1 << 14 };
struct poison {
    struct uffdio_range range;
    uint64_t mode;
    int64_t updated;
};
#define POISON _IOWR(UFFDIO, 0x08, struct poison)

struct pager *pager_open(struct slot *s, struct guest *g, uint64_t features, const char *since)
{
    struct pager *pager = mmap(NULL, sizeof *pager, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check_map(s, pager);
    *pager = (struct pager){.g = g, .around = g->page, .answer = copy_in, .cpu = pin_second(), .guest_cpu = sched_getcpu()};
    if (pager->cpu < 0 && *key_word(s, "pin") && !key_is(s, "pin", "none"))
        skip(s, "a pager has a CPU of its own beside one clone: clones=1");
    pager->poisons = getenv("PAGEWISE_TEST_POISON") != NULL;
    userfault_open(s, &pager->u, features | (pager->poisons ? FEATURE_POISON : 0), since);
    pager->u.p = g->p;
    return pager;
}

void pager_register(struct pager *pager, uint64_t mode)
{
    struct uffdio_register range = {.range = {(uintptr_t)pager->g->p, pager->g->bytes}, .mode = mode};
    if (ioctl(pager->u.descriptor, UFFDIO_REGISTER, &range) != 0)
        guest_lost(pager->g, "ioctl UFFDIO_REGISTER");
}

void pager_start(struct pager *pager)
{
    if (!pager->g->failed && (errno = pthread_create(&pager->u.thread, NULL, pager_serve, pager)) != 0)
        guest_lost(pager->g, "pthread_create");
}

void pager_stop(struct pager *pager)
{
    if (userfault_interrupt(pager->u.thread, &pager->stop, &pager->ended) != 0)
        guest_lost(pager->g, "sigaction");
    if (close(pager->u.descriptor) != 0)
        guest_lost(pager->g, "close");
}

void pager_check(struct slot *s, const struct pager *pager)
{
    errno = pager->error;
    check_done(s, pager->error != 0, "pread, read or ioctl of the pager");
}

void pager_facts(struct slot *s, struct pager *pager)
{
    while (pager->answering) /* the guest went on before the last page was counted */
        sched_yield();
    pager_check(s, pager);
    fact(s, "served_pages", pager->served);
    fact(s, "prefetched_pages", pager->prefetched);
    if (pager->cpu >= 0)
        fact(s, "apart_pages", pager->apart);
}

/* What waits for a page, and what comes later, gets it from the kernel: zeros, which the proofs find. */
void pager_give_up(struct pager *pager)
{
    struct uffdio_range all = {(uintptr_t)pager->g->p, pager->g->bytes};
    pager->error = errno ? errno : EIO;
    ioctl(pager->u.descriptor, UFFDIO_UNREGISTER, &all);
    ioctl(pager->u.descriptor, UFFDIO_WAKE, &all);
}

void *pager_serve(void *argument)
{
    struct pager *pager = argument;
    struct uffd_msg message;
    cpu_set_t place;
    CPU_ZERO(&place);
    CPU_SET(pager->cpu < 0 ? 0 : pager->cpu, &place);
    if (pager->cpu >= 0 && sched_setaffinity(0, sizeof place, &place) != 0) {
        pager_give_up(pager);
        pager->ended = true;
        return NULL;
    }
    for (;;) {
        ssize_t got = read(pager->u.descriptor, &message, sizeof message);
        if (got < 0 && errno == EINTR && !pager->stop)
            continue;
        if (pager->stop)
            break;
        errno = got < 0 ? errno : EIO;
        uint64_t page = message.arg.pagefault.address & ~(uint64_t)(pager->g->page - 1);
        pager->answering = true;
        if (got != sizeof message || !pager->answer(pager, page))
            break;
        pager->apart += pager->cpu >= 0 && sched_getcpu() != pager->guest_cpu;
        pager->answering = false;
    }
    if (!pager->stop)
        pager_give_up(pager);
    pager->answering = false;
    pager->ended = true;
    return NULL;
}

static long copy_once(const struct pager *pager, uint64_t to, const char *from, size_t bytes)
{
    struct uffdio_copy copy = {.dst = to, .src = (uintptr_t)from, .len = bytes};
    int done = ioctl(pager->u.descriptor, UFFDIO_COPY, &copy);
    return done == 0 ? (long)bytes : copy.copy > 0 ? copy.copy : -1;
}

long copy_pages(struct pager *pager, uint64_t to, const char *from, size_t bytes)
{
    size_t page = pager->g->page;
    long pages = 0;
    for (size_t at = 0; at < bytes;) {
        long done = copy_once(pager, to + at, from + at, bytes - at);
        if (done < 0 && errno != EEXIST)
            return -1;
        pages += done > 0 ? done / (long)page : 0;
        at += done > 0 ? (size_t)done : page; /* the page that somebody else had supplied is left out */
    }
    return pages;
}

bool go_on(struct pager *pager, uint64_t address)
{
    struct uffdio_continue there = {.range = {address & ~(uint64_t)(pager->around - 1), pager->around}};
    if (ioctl(pager->u.descriptor, UFFDIO_CONTINUE, &there) != 0)
        return errno == EEXIST && ioctl(pager->u.descriptor, UFFDIO_WAKE, &there.range) == 0;
    pager->served += pager->around / pager->g->page;
    return true;
}

/* The page asked for with its neighbours up to `around`. One that is there already only needs waking whoever waits for it. */
bool copy_in(struct pager *pager, uint64_t address)
{
    const struct guest *g = pager->g;
    size_t at = (size_t)(address - (uintptr_t)g->p) / pager->around * pager->around;
    size_t bytes = g->bytes - at < pager->around ? g->bytes - at : pager->around;
    struct poison poison = {.range = {(uintptr_t)g->p + at, bytes}};
    if (pager->poisons && pager->served)
        return ioctl(pager->u.descriptor, POISON, &poison) == 0;
    long pages = copy_pages(pager, (uintptr_t)g->p + at, pager->source + at, bytes);
    if (pages < 0)
        return false;
    pager->served += (uint64_t)pages;
    struct uffdio_range there = {address, g->page};
    return pages == (long)(bytes / g->page) || ioctl(pager->u.descriptor, UFFDIO_WAKE, &there) == 0;
}
