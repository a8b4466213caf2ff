/* See best.h. */
#include "best.h"
#include "o_direct.h"

enum { TRY_BYTES = 16 << 20 };

void best_begin(struct slot *s, struct input *in, const struct best *best)
{
    direct_begin(s, in, best->chunk, 0);
    if (in->blocks)
        munmap((void *)in->blocks, in->blocks_map_bytes);
    in->blocks = NULL;
    in->step_bytes = best->chunk;
    in->steps = (in->bytes + best->chunk - 1) / best->chunk;
    size_t huge = s->huge_page_bytes ? s->huge_page_bytes : s->page_bytes;
    in->buffer_bytes = (best->depth * in->step_bytes + huge - 1) / huge * huge;
    in->buffer = mmap(free_range(s, in->buffer_bytes), in->buffer_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, in->buffer);
    madvise(in->buffer, in->buffer_bytes, MADV_HUGEPAGE);
    memset(in->buffer, 0, in->buffer_bytes);
    in->footprint_bytes = in->buffer_bytes;
    read_count_from_here(s, in);
}

/* Whether there is such a ring here; a plain one there must be. */
static bool possible(struct slot *s, enum ring_kind kind)
{
    struct ring ring;
    ring_begin(s, &ring, 1, RING_PLAIN);
    ring.kind = kind;
    int error = uring_open(&ring);
    if (!error)
        uring_close(&ring);
    ring_free(&ring);
    return error == 0;
}

/* With the cell's own consumer, so that what overlaps in the pass overlaps here. */
static uint64_t try_ns(struct slot *s, const struct best *candidate)
{
    struct input in;
    struct ring ring;
    ring_begin(s, &ring, candidate->depth, candidate->kind);
    best_begin(s, &in, candidate);
    if (in.steps * in.step_bytes > TRY_BYTES)
        in.steps = TRY_BYTES / in.step_bytes;
    int fd = open(in.path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    direct_check(s, fd);
    ring_check(s, &ring, uring_open(&ring));
    uint64_t spent = UINT64_MAX;
    if (candidate->kind != RING_REGISTERED || uring_register(&ring, &in, fd) == 0) {
        uint64_t start = now_ns();
        ring_pass(&ring, &in, fd, true);
        spent = now_ns() - start;
        check_pass(s, &in, "io_uring_enter");
    }
    uring_close(&ring);
    close(fd);
    ring_free(&ring);
    read_free(&in);
    return spent;
}

struct best best_requests(struct slot *s)
{
    enum { DEPTHS = 3, CHUNKS = 2, KINDS = 3, TRIES = 2, ALL = DEPTHS * CHUNKS * KINDS };
    static const unsigned depths[DEPTHS] = {4, 16, 64};
    static const size_t chunks[CHUNKS] = {1 << 18, 1 << 20};
    static const enum ring_kind kinds[KINDS] = {RING_PLAIN, RING_REGISTERED, RING_SQPOLL};
    static struct {
        const struct cell *cell;
        struct best best;
    } known[32];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (known[i].cell == s->cell)
            return known[i].best;
    struct best best = {0};
    uint64_t least = UINT64_MAX;
    bool sqpoll = possible(s, RING_SQPOLL);
    for (size_t i = 0; i < TRIES * ALL; i++) {
        struct best candidate = {depths[i / CHUNKS % DEPTHS], chunks[i % CHUNKS], kinds[i / (CHUNKS * DEPTHS) % KINDS]};
        uint64_t spent = candidate.kind == RING_SQPOLL && !sqpoll ? UINT64_MAX : try_ns(s, &candidate);
        if (spent < least) {
            least = spent;
            best = candidate;
        }
    }
    if (count < sizeof known / sizeof *known) {
        known[count].cell = s->cell;
        known[count++].best = best;
    }
    return best;
}
