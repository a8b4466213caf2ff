#include "splice.h"

static void run(struct slot *s)
{
    size_t page = s->page_bytes, chunk = key_size(s, "chunk");
    const char *obstacle = s->bytes % page || chunk % page
                               ? "a gift is whole pages: bytes and chunk must be multiples of a page"
                               : NULL;
    splice_send(s, key_size(s, "pipe_bytes"), chunk, SPLICE_F_GIFT, obstacle);
}

static void run_b(struct slot *s)
{
    int fd = pipe_from_a(s);
    char *p = transfer_target(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = read_all(fd, p, bytes, chunk); }
    transfer_check(s, "read", moved);
    transfer_received(s, p, moved.calls, 0);
}

METHOD(transfer_vmsplice_gift, .experiment = "transfer", .name = "vmsplice-gift",
       .summary = "a gives its pages to the pipe by vmsplice(SPLICE_F_GIFT) and never touches them again, so that each "
                  "sample has new ones; b takes a copy by read.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size pipe_bytes:size", .memory = "2 * bytes",
       .laws = "wrong_at == bytes; source_wrong_at == bytes; " PIN_LAWS RESIDENT_LAWS
               "; granted_pipe_bytes == pipe_bytes; vmsplice_shares_pages == 1",
       .calls = "send:vmsplice receive:read", .run = run, .run_b = run_b);
