#include "pipe.h"

static void run(struct slot *s)
{
    pipe_send(s, 0);
}

static void run_b(struct slot *s)
{
    pipe_receive(s);
}

METHOD(transfer_pipe, .experiment = "transfer", .name = "pipe",
       .summary = "write and read through a pipe of the default size: the kernel copies in and copies out.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; granted_pipe_bytes == 16 * page_bytes",
       .calls = "send:write receive:read", .run = run, .run_b = run_b);
