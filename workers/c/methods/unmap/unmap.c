/* Preparing and proving of the `unmap` methods. Only the phase others-owe is timed. */
#include "unmap.h"
#include <fcntl.h>

struct range unmap_begin(struct slot *s, bool touch)
{
    struct range r = {.bytes = s->bytes, .chunk = key_size(s, "chunk"), .asleep = key_is(s, "others", "asleep")};
    if (r.asleep && key_size(s, "running") < 2)
        skip(s, "there is no other thread that could sleep");
    r.chunk = r.chunk ? r.chunk : r.bytes;
    if (r.chunk % s->page_bytes != 0 || r.bytes % r.chunk != 0)
        skip(s, "chunk is not a multiple of the page size that divides bytes");
    if (s->threads > 1 && r.bytes / s->threads % r.chunk != 0)
        skip(s, "each thread's share of bytes is not a multiple of chunk");
    /* First, so that the threads' stacks do not come to lie where memory will move to. */
    r.others = others_open(s);
    r.p = mmap(free_range(s, r.bytes), r.bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, r.p);
    (void)madvise(r.p, r.bytes, MADV_NOHUGEPAGE);
    bool seen = touch && shootdowns_interrupt(s, r.others);
    for (size_t i = 0; touch && i < r.bytes; i += s->page_bytes)
        r.p[i] = (char)(s->seed | 1);
    fact(s, "interrupts_seen", seen);
    fact(s, "one_thread", s->threads == 1);
    fact(s, "touched_bytes", resident_in(s, r.p, r.bytes).rss_bytes);
    s->ops = r.bytes / r.chunk;
    return r;
}

char *unmap_elsewhere(struct slot *s, struct range *r)
{
    return free_range(s, r->bytes);
}

void unmap_ready(struct range *r)
{
    r->others->asleep = r->asleep;
    r->shootdowns = tlb_shootdowns();
    others_start(r->others);
}

void unmap_others(struct slot *s, struct range *r, const char *call)
{
    int error = errno;
    others_stop(r->others);
    fact(s, "foreign_shootdowns", tlb_shootdowns() - r->shootdowns);
    fact(s, "failed_calls", r->failed);
    errno = error;
    if (r->failed)
        fail(s, call);
    others_compare(s, r->others);
    others_arm(r->others, true);
    PHASE(s, "others-owe") { others_catch_up(r->others); }
}

void unmap_end(struct slot *s, struct range *r)
{
    (void)s;
    others_close(r->others);
    munmap(r->p, r->bytes);
}

size_t chunks_gone(const struct range *r)
{
    size_t gone = 0;
    unsigned char resident;
    for (size_t at = 0; at < r->bytes; at += r->chunk)
        gone += mincore(r->p + at, 1, &resident) != 0 && errno == ENOMEM;
    return gone;
}

/* The kernel does not write where this process may not. */
size_t chunks_read_only(struct slot *s, const struct range *r)
{
    size_t refused = 0;
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zeros < 0)
        fail(s, "open /dev/zero");
    for (size_t at = 0; at < r->bytes; at += r->chunk)
        refused += read(zeros, r->p + at, 1) < 0 && errno == EFAULT;
    close(zeros);
    return refused;
}

size_t wrong_marks(struct slot *s, const struct range *r, const char *p)
{
    size_t wrong = 0;
    for (size_t i = 0; i < r->bytes; i += s->page_bytes)
        wrong += p[i] != (char)(s->seed | 1);
    return wrong;
}
