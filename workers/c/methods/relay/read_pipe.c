#include "receive.h"

static void run(struct slot *s)
{
    int file = relay_file(s, NULL), fd = pipe_to_b(s, key_size(s, "pipe_bytes"), NULL);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    char *buffer = block_resident(s, chunk);
    struct moved moved = {0, 0}, put = {0, 0};
    relay_ready(s, file);
    PHASE(s, "send") {
        while (moved.bytes < bytes) {
            ssize_t got = pread(file, buffer, bytes - moved.bytes < chunk ? bytes - moved.bytes : chunk, (off_t)moved.bytes);
            if (!went_on(got))
                break;
            put = write_all(fd, buffer, got > 0 ? (size_t)got : 0, chunk);
            moved.calls += 1 + put.calls;
            moved.bytes += put.bytes;
            if (got > 0 && put.bytes != (size_t)got)
                break;
        }
    }
    transfer_check(s, "pread or write", moved);
    relay_sent(s, moved.calls);
    block_free(s, buffer, chunk);
}

static void run_b(struct slot *s)
{
    relay_store(s, pipe_from_a, key_size(s, "chunk"));
}

METHOD(relay_read_pipe, .experiment = "relay", .name = "read-pipe",
       .summary = "a reads the file into a buffer and writes it into a pipe, b reads the pipe, and writes a new file "
                  "where it is to (`sink`).",
       .phases = FILE_SINK_PHASES, .keys = BOTH_SINKS_KEYS " chunk:size pipe_bytes:size", .memory = "bytes + chunk",
       .laws = BOTH_SINKS_LAWS "; granted_pipe_bytes == pipe_bytes",
       .calls = "send:pread64,write receive:read,write? write-back:fdatasync?", .run = run,
       .run_b = run_b);
