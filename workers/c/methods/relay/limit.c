#include "relay.h"

static inline struct moved pread_all(int fd, char *p, size_t bytes)
{
    size_t chunk = bytes;
    EACH_PIECE(pread(fd, p + moved.bytes, piece, (off_t)moved.bytes));
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL);
    tell_descriptor(s, file);
    relay_ready(s, file);
    PHASE(s, "send") { }
    relay_sent(s, 0);
}

static void run_b(struct slot *s)
{
    char *p = relay_target(s);
    int file = hear_descriptor(s);
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = pread_all(file, p, bytes); }
    transfer_check(s, "pread", moved);
    relay_received(s, p, moved.calls);
    close(file);
}

METHOD(relay_limit, .experiment = "relay", .name = "limit", .role = "limit",
       .summary = "Side b reads the file itself, in one call: what there is to pay when nobody stands between.",
       .phases = RELAY_PHASES, .keys = RELAY_KEYS, .memory = "bytes", .laws = RELAY_LAWS, .calls = "receive:pread64",
       .run = run, .run_b = run_b);
