#include "splice.h"

static void run(struct slot *s)
{
    splice_send(s, key_size(s, "pipe_bytes"), key_size(s, "chunk"), 0, NULL);
}

static void run_b(struct slot *s)
{
    splice_receive(s, key_size(s, "chunk"), 0);
}

METHOD(transfer_vmsplice_wide, .experiment = "transfer", .name = "vmsplice-wide",
       .summary = "vmsplice at both ends of a pipe of pipe_bytes, a chunk at a time: a lends its pages, the kernel copies them out for b.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size pipe_bytes:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; granted_pipe_bytes == pipe_bytes; vmsplice_shares_pages == 1",
       .calls = "send:vmsplice receive:vmsplice", .run = run, .run_b = run_b);
