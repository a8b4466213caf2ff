#include "reset.h"

static void reset(struct region *r)
{
    size_t keep = *(size_t *)r->own;
    restore(r, r->p, keep);
    if (keep < r->bytes && madvise(r->p + keep, r->bytes - keep, MADV_DONTNEED) != 0)
        region_lost(r, "madvise");
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, OVER_IMAGE);
    size_t keep = key_size(s, "keep"), behind = 0, whole = r.huge ? s->huge_page_bytes : r.page;
    keep = keep < r.bytes ? keep / whole * whole : r.bytes;
    r.own = &keep;
    for (size_t i = 0; i < r.dirty_pages; i++)
        behind += (size_t)r.dirty[i] * r.page >= keep;
    fact(s, "pages_behind", behind);
    reset_cycles(s, &r, reset);
    region_end(&r);
}

METHOD(reset_keep, .experiment = "reset", .name = "keep",
       .summary = "Put back the first `keep` bytes in place and discard the rest, over a private mapping of the image: Wasmtime's old way.",
       .phases = RESET_PHASES, .keys = RESET_KEYS " keep:size", .memory = "2 * bytes",
       .laws = RESET_LAWS HUGE_LAW "; restored_bytes <= keep; restored_bytes <= bytes; reset.minor_faults <= restored_bytes / page_bytes; "
               "pages=small: use.minor_faults >= pages_behind; pages=small: use.minor_faults <= pages_behind + read_pages", .calls = "reset:madvise?", .run = run);
