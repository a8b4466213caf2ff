#include "transfer.h"

static void run(struct slot *s)
{
    size_t bytes = s->bytes;
    char *from = transfer_source(s), *to = block_resident(s, bytes);
    meet(s);
    PHASE(s, "send") { memcpy(to, from, bytes); }
    meet(s);
    block_prove(s, to, bytes);
    block_free(s, from, bytes);
    block_free(s, to, bytes);
}

static void run_b(struct slot *s)
{
    s->ops = s->bytes;
    meet(s);
    PHASE(s, "receive") { }
    meet(s);
}

METHOD(transfer_limit, .experiment = "transfer", .name = "limit", .role = "limit",
       .summary = "One memcpy of the block within side a, source and destination resident: what one copy costs.",
       .phases = "send receive", .keys = "bytes:size", .memory = "2 * bytes",
       .laws = "wrong_at == bytes; send.minor_faults == 0", .calls = "", .run = run, .run_b = run_b);
