#include "streams.h"

static SHARED_BODY void run(struct slot *s, size_t pipe_bytes)
{
    int fd = pipe_to_b(s, pipe_bytes, NULL);
    char *p = transfer_source(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    meet(s);
    PHASE(s, "send") { moved = write_all(fd, p, bytes, chunk); }
    transfer_check(s, "write", moved);
    transfer_sent(s, p, moved.calls, pipe_bytes_of(fd));
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

static void as_it_is(struct slot *s) { run(s, 0); }
METHOD(transfer_pipe, .experiment = "transfer", .name = "pipe",
       .summary = "write and read through a pipe of the default size: the kernel copies in and copies out.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; granted_pipe_bytes == 16 * page_bytes",
       .calls = "send:write receive:read", .run = as_it_is, .run_b = run_b);

static void wide(struct slot *s) { run(s, key_size(s, "pipe_bytes")); }
METHOD(transfer_pipe_wide, .experiment = "transfer", .name = "pipe-wide",
       .summary = "write and read through a pipe of pipe_bytes (F_SETPIPE_SZ).",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY " chunk:size pipe_bytes:size", .memory = "2 * bytes",
       .laws = PRIVATE_LAWS RESIDENT_LAWS "; granted_pipe_bytes == pipe_bytes",
       .calls = "send:write receive:read", .run = wide, .run_b = run_b);
