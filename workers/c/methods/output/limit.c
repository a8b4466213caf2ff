#include "output.h"
#include "block.h"
#include "fastest.h"

/* The least this machine can take: the bytes are copied once, into memory that is there, in huge pages, by the fastest of the
 * known copies and by one thread or all. */
static void run(struct slot *s)
{
    const char *source = block_filled(s, s->bytes);
    char *to = mmap(free_range(s, s->bytes), s->bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, to);
    madvise(to, s->bytes, MADV_HUGEPAGE);
    memset(to, 0, s->bytes);
    struct fastest best = fastest_choose(s, to, source, s->bytes);
    memset(to, 0, s->bytes);
    s->ops = s->bytes / s->page_bytes;
    PHASE(s, "open") { }
    PHASE(s, "size") { }
    fastest_ready(s, best);
    PHASE(s, "fill") { fastest_go(); }
    fastest_over();
    PHASE(s, "finish") { }
    fact(s, "best_copy", (uint64_t)best.copy);
    fact(s, "best_threads", best.shares);
    if (s->proofs) {
        block_prove(s, to, s->bytes);
        PHASE(s, "sync") { }
        PHASE(s, "remove") { }
    }
    munmap(to, s->bytes);
    block_free(s, (char *)source, s->bytes);
}

METHOD(output_limit, .experiment = "output", .name = "limit", .role = "limit",
       .summary = "The bytes are copied once, into resident huge pages, by the fastest of six ways. No file is made.",
       .phases = OUTPUT_PHASES, .keys = "bytes:size", .memory = "2 * bytes",
       .laws = "wrong_at == bytes; fill.minor_faults == 0", .calls = "", .run = run);
