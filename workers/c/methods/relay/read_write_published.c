#include "receive.h"

enum { PUBLISHED_PIECE_BYTES = 4096 };

static void run(struct slot *s)
{
    int file = relay_file(s, NULL), fd = pipe_to_b(s, 0, NULL);
    size_t bytes = s->bytes;
    char *buffer = block_resident(s, PUBLISHED_PIECE_BYTES);
    struct moved moved;
    relay_ready(s, file);
    lseek(file, 0, SEEK_SET);
    PHASE(s, "send") { moved = store_stream(file, fd, buffer, bytes, PUBLISHED_PIECE_BYTES); }
    transfer_check(s, "read or write", moved);
    relay_sent(s, moved.calls);
}

static void run_b(struct slot *s)
{
    relay_store(s, pipe_from_a, PUBLISHED_PIECE_BYTES);
}

METHOD(relay_read_write_published, .experiment = "relay", .name = "read-write-published", .role = "published",
       .summary = "The P2c job as published: a reads the file and writes a default pipe, b reads the pipe and writes a new file, 4096 bytes a call.",
       .phases = FILE_SINK_PHASES, .keys = FILE_SINK_KEYS, .memory = "2 * bytes",
       .laws = FILE_SINK_LAWS "; granted_pipe_bytes == 16 * page_bytes; send.calls >= 2 * (bytes / 4096)",
       .calls = "send:read,write receive:read,write write-back:fdatasync?", .run = run, .run_b = run_b);
