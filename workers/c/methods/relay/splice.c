#include "receive.h"

static void run(struct slot *s)
{
    int file = relay_file(s, NULL), fd = pipe_to_b(s, key_size(s, "pipe_bytes"), NULL);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    relay_ready(s, file);
    PHASE(s, "send") { moved = splice_file(file, fd, bytes, chunk); }
    transfer_check(s, "splice", moved);
    relay_sent(s, moved.calls);
    close(fd);
}

static void run_b(struct slot *s)
{
    relay_read(s, pipe_from_a);
}

METHOD(relay_splice, .experiment = "relay", .name = "splice",
       .summary = "a splices the file's pages into a pipe without touching them, b reads the pipe: one copy.",
       .phases = RELAY_PHASES, .keys = RELAY_KEYS " chunk:size pipe_bytes:size", .memory = "bytes",
       .laws = RELAY_LAWS "; granted_pipe_bytes == pipe_bytes; send.minor_faults == 0",
       .calls = "send:splice receive:read", .run = run, .run_b = run_b);
