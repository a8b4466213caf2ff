#include "receive.h"
#include <sys/sendfile.h>

static inline struct moved sendfile_all(int socket, int file, size_t bytes, size_t chunk)
{
    off_t offset = 0;
    EACH_PIECE(sendfile(socket, file, &offset, piece));
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL), fd = socket_to_b(s);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct moved moved;
    relay_ready(s, file);
    PHASE(s, "send") { moved = sendfile_all(fd, file, bytes, chunk); }
    transfer_check(s, "sendfile", moved);
    relay_sent(s, moved.calls);
}

static void run_b(struct slot *s)
{
    relay_read(s, socket_from_a);
}

METHOD(relay_sendfile, .experiment = "relay", .name = "sendfile",
       .summary = "a has sendfile put the file's pages into a Unix stream socket, b reads it.",
       .phases = RELAY_PHASES, .keys = RELAY_KEYS " chunk:size", .memory = "bytes",
       .laws = RELAY_LAWS "; send.minor_faults == 0", .calls = "send:sendfile receive:read", .run = run, .run_b = run_b);
