#include "receive.h"

static inline struct moved splice_into(int from, int file, size_t bytes, size_t chunk)
{
    EACH_PIECE(splice(from, NULL, file, NULL, piece, SPLICE_F_MOVE));
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
}

static void run_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    int fd = pipe_from_a(s), file = to.file;
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    char *p = to.block;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = file < 0 ? read_all(fd, p, bytes, chunk) : splice_into(fd, file, bytes, chunk); }
    transfer_check(s, "read or splice", moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
}

METHOD(relay_splice, .experiment = "relay", .name = "splice",
       .summary = "a splices the file's pages into a pipe without touching them, b reads the pipe, or splices it into a new file (`sink`): one copy.",
       .phases = FILE_SINK_PHASES, .keys = BOTH_SINKS_KEYS " chunk:size pipe_bytes:size", .memory = "bytes",
       .laws = BOTH_SINKS_LAWS "; granted_pipe_bytes == pipe_bytes; send.minor_faults == 0",
       .calls = "send:splice receive:read?,splice? write-back:fdatasync?", .run = run, .run_b = run_b);
