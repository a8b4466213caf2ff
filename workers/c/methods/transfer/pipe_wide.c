#include "pipe.h"

static void run(struct slot *s)
{
    pipe_send(s, key_size(s, "pipe_bytes"));
}

static void run_b(struct slot *s)
{
    pipe_receive(s);
}

METHOD(transfer_pipe_wide, .experiment = "transfer", .name = "pipe-wide",
       .summary = "write and read through a pipe of pipe_bytes (F_SETPIPE_SZ).",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size pipe_bytes:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; granted_pipe_bytes == pipe_bytes",
       .calls = "send:write receive:read", .run = run, .run_b = run_b);
