#include "relay.h"

static inline struct moved copy_rest(int from, int into, size_t bytes)
{
    size_t chunk = bytes;
    loff_t offset = 0;
    EACH_PIECE(copy_file_range(from, &offset, into, NULL, piece, 0));
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL);
    tell_descriptor(file);
    relay_ready(s, file);
    PHASE(s, "send") { }
    relay_sent(s, 0);
}

static void run_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    int from = hear_descriptor(s), file = to.file;
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = copy_rest(from, file, bytes); }
    transfer_check(s, "copy_file_range", moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
    close(from);
}

METHOD(relay_copy_file_range, .experiment = "relay", .name = "copy-file-range",
       .summary = "What one would really do: one process asks copy_file_range for the whole file; a file system that shares extents copies nothing.",
       .phases = FILE_SINK_PHASES, .keys = FILE_SINK_KEYS, .memory = "2 * bytes",
       .laws = FILE_SINK_LAWS,
       .calls = "receive:copy_file_range write-back:fdatasync?", .run = run, .run_b = run_b);
