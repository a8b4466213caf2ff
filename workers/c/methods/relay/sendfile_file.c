#include "relay.h"
#include <sys/sendfile.h>

static inline struct moved copy_rest(int from, int into, size_t bytes)
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

static void run_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    int from = hear_descriptor(s), file = to.file;
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = copy_rest(from, file, bytes); }
    transfer_check(s, "sendfile", moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
    close(from);
}

METHOD(relay_sendfile_file, .experiment = "relay", .name = "sendfile-file",
       .summary = "What one would really do: one process has sendfile put the file into a new file, all that is left in every call.",
       .phases = FILE_SINK_PHASES, .keys = FILE_SINK_KEYS, .memory = "2 * bytes",
       .laws = FILE_SINK_LAWS,
       .calls = "receive:sendfile write-back:fdatasync?", .run = run, .run_b = run_b);
