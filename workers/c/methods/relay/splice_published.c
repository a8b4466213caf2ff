#include "relay.h"

static inline struct moved splice_rest(int from, int into, size_t bytes)
{
    size_t chunk = bytes;
    EACH_PIECE(splice(from, NULL, into, NULL, piece, SPLICE_F_MOVE));
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL), fd = pipe_to_b(s, 0, NULL);
    size_t bytes = s->bytes;
    struct moved moved;
    relay_ready(s, file);
    lseek(file, 0, SEEK_SET);
    PHASE(s, "send") { moved = splice_rest(file, fd, bytes); }
    transfer_check(s, "splice", moved);
    relay_sent(s, moved.calls);
}

static void run_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    int fd = pipe_from_a(s), file = to.file;
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = splice_rest(fd, file, bytes); }
    transfer_check(s, "splice", moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
}

METHOD(relay_splice_published, .experiment = "relay", .name = "splice-published", .role = "published",
       .summary = "The P2c job as published: a splices the file into a default pipe, b splices the pipe into a new file, each asking for all that is left in every call.",
       .phases = FILE_SINK_PHASES, .keys = FILE_SINK_KEYS, .memory = "2 * bytes",
       .laws = FILE_SINK_LAWS "; granted_pipe_bytes == 16 * page_bytes; send.minor_faults == 0; receive.minor_faults == 0",
       .calls = "send:splice receive:splice write-back:fdatasync?", .run = run, .run_b = run_b);
