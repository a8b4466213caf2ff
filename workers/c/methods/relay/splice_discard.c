#include "relay.h"

static inline struct moved splice_away(int from, int into, size_t bytes, size_t chunk)
{
    EACH_PIECE(splice(from, NULL, into, NULL, piece, SPLICE_F_MOVE));
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL), fd = pipe_to_b(s, key_size(s, "pipe_bytes"), NULL);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    relay_ready(s, file);
    PHASE(s, "send") { moved = splice_file(file, fd, bytes, chunk); }
    transfer_check(s, "splice", moved);
    relay_sent(s, moved.calls);
    relay_prove_file(s, file);
}

static void run_b(struct slot *s)
{
    agree(s, NULL);
    int fd = pipe_from_a(s), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    if (nowhere < 0)
        fail(s, "open /dev/null");
    s->ops = bytes;
    meet(s);
    PHASE(s, "receive") { moved = splice_away(fd, nowhere, bytes, chunk); }
    transfer_check(s, "splice", moved);
    meet(s);
    fact(s, "receive.calls", moved.calls);
    fact(s, "discarded_bytes", moved.bytes);
    close(nowhere);
}

METHOD(relay_splice_discard, .experiment = "relay", .name = "splice-discard", .group = "discard",
       .summary = "a splices the file into a pipe and b splices the pipe into /dev/null: nobody looked at the bytes, and the digest is the file's own.",
       .phases = RELAY_PHASES, .keys = RELAY_KEYS " chunk:size pipe_bytes:size", .memory = "bytes / 2",
       .laws = "wrong_at == bytes; discarded_bytes == bytes; granted_pipe_bytes == pipe_bytes; send.minor_faults == 0; "
               "receive.minor_faults == 0; " PIN_LAWS "; " CACHE_LAWS,
       .calls = "send:splice receive:splice", .run = run, .run_b = run_b);
