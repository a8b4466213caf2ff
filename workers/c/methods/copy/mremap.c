#include "copy.h"

/* Moves the pages there and back again, so that a batch needs no more room than one move. */
static void run(struct slot *s)
{
    size_t bytes = s->bytes, page = s->page_bytes, whole = (bytes + page - 1) / page * page;
    size_t at_least = key_size(s, "batch_bytes");
    uint64_t batch = at_least > bytes ? (at_least + bytes - 1) / bytes : 1;
    char *here = block_filled(s, bytes), *there = free_range(s, whole);
    block_disown(here);
    unsigned char map = 0;
    s->ops = s->phase_bytes = bytes * batch;
    fact(s, "batch", batch);
    PHASE(s, "copy") {
        for (uint64_t i = 0; i < batch && here != MAP_FAILED; i++) {
            char *from = here;
            here = mremap(from, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, there);
            there = from;
        }
    }
    if (here == MAP_FAILED)
        fail(s, "mremap");
    fact(s, "source_gone", mincore(there, page, &map) != 0 && errno == ENOMEM);
    block_prove(s, here, bytes);
    block_free(s, here, bytes);
}

METHOD(copy_mremap, .experiment = "copy", .name = "mremap", .group = "move",
       .summary = "mremap moves the pages to another address and copies nothing: afterwards the source is gone.",
       .phases = "copy", .keys = "bytes:size batch_bytes:size", .memory = "bytes",
       .laws = "wrong_at == bytes; source_gone == 1; copy.minor_faults == 0", .calls = "copy:mremap", .run = run);
