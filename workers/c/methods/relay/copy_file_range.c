#include "relay.h"
#include <sys/sendfile.h>

static inline struct moved by_copy_file_range(int from, int into, size_t bytes)
{
    size_t chunk = bytes;
    loff_t offset = 0;
    EACH_PIECE(copy_file_range(from, &offset, into, NULL, piece, 0));
}

static inline struct moved by_sendfile(int from, int into, size_t bytes)
{
    size_t chunk = bytes;
    off_t offset = 0;
    EACH_PIECE(sendfile(into, from, &offset, piece));
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL);
    tell_descriptor(file);
    relay_ready(s, file);
    PHASE(s, "send") { }
    relay_sent(s, 0);
}

static SHARED_BODY void run_b(struct slot *s, struct moved (*copy_rest)(int, int, size_t), const char *call)
{
    struct sink to = relay_sink(s);
    int from = hear_descriptor(s), file = to.file;
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = copy_rest(from, file, bytes); }
    transfer_check(s, call, moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
    close(from);
}

static void copies(struct slot *s) { run_b(s, by_copy_file_range, "copy_file_range"); }
METHOD(relay_copy_file_range, .experiment = "relay", .name = "copy-file-range",
       .summary = "What one would really do: one process asks copy_file_range for the whole file; a file system that shares extents copies nothing.",
       .phases = FILE_SINK_PHASES, .keys = FILE_SINK_KEYS, .memory = "2 * bytes",
       .laws = FILE_SINK_LAWS,
       .calls = "receive:copy_file_range write-back:fdatasync?", .run = run, .run_b = copies);

static void sends(struct slot *s) { run_b(s, by_sendfile, "sendfile"); }
METHOD(relay_sendfile_file, .experiment = "relay", .name = "sendfile-file",
       .summary = "What one would really do: one process has sendfile put the file into a new file, all that is left in every call.",
       .phases = FILE_SINK_PHASES, .keys = FILE_SINK_KEYS, .memory = "2 * bytes",
       .laws = FILE_SINK_LAWS,
       .calls = "receive:sendfile write-back:fdatasync?", .run = run, .run_b = sends);
