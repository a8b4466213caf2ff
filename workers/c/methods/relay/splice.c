#include "receive.h"

static inline struct moved splice_on(int from, int into, size_t bytes, size_t chunk)
{
    EACH_PIECE(splice(from, NULL, into, NULL, piece, SPLICE_F_MOVE));
}

static SHARED_BODY void run(struct slot *s, bool discarded)
{
    int file = relay_file(s, NULL), fd = pipe_to_b(s, key_size(s, "pipe_bytes"), NULL);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    relay_ready(s, file);
    PHASE(s, "send") { moved = splice_file(file, fd, bytes, chunk); }
    transfer_check(s, "splice", moved);
    relay_sent(s, moved.calls);
    if (discarded)
        relay_prove_file(s, file);
}

static void sunk_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    int fd = pipe_from_a(s), file = to.file;
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    char *p = to.block;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = file < 0 ? read_all(fd, p, bytes, chunk) : splice_on(fd, file, bytes, chunk); }
    transfer_check(s, "read or splice", moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
}
static void sunk(struct slot *s) { run(s, false); }
METHOD(relay_splice, .experiment = "relay", .name = "splice",
       .summary = "a splices the file's pages into a pipe without touching them, b reads the pipe, or splices it into a new file (`sink`): one copy.",
       .phases = FILE_SINK_PHASES, .keys = BOTH_SINKS_KEYS " chunk:size pipe_bytes:size", .memory = "bytes",
       .laws = BOTH_SINKS_LAWS "; granted_pipe_bytes == pipe_bytes; send.minor_faults == 0",
       .calls = "send:splice receive:read?,splice? write-back:fdatasync?", .run = sunk, .run_b = sunk_b);

static void discarded_b(struct slot *s)
{
    agree(s, NULL);
    int fd = pipe_from_a(s), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    if (nowhere < 0)
        fail(s, "open /dev/null");
    s->ops = bytes;
    meet(s);
    PHASE(s, "receive") { moved = splice_on(fd, nowhere, bytes, chunk); }
    transfer_check(s, "splice", moved);
    meet(s);
    fact(s, "receive.calls", moved.calls);
    fact(s, "discarded_bytes", moved.bytes);
    close(nowhere);
}
static void discarded(struct slot *s) { run(s, true); }
METHOD(relay_splice_discard, .experiment = "relay", .name = "splice-discard", .group = "discard",
       .summary = "a splices the file into a pipe and b splices the pipe into /dev/null: nobody looked at the bytes, and the digest is the file's own.",
       .phases = RELAY_PHASES, .keys = RELAY_KEYS " chunk:size pipe_bytes:size", .memory = "bytes / 2",
       .laws = "wrong_at == bytes; discarded_bytes == bytes; granted_pipe_bytes == pipe_bytes; send.minor_faults == 0; "
               "receive.minor_faults == 0; " PIN_LAWS "; " CACHE_LAWS,
       .calls = "send:splice receive:splice", .run = discarded, .run_b = discarded_b);
