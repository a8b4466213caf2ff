#include "relay.h"
#include "../transfer/ring.h"

/* Fills one chunk of the ring from the file; false where the file did not give it. */
static inline bool read_chunk(int file, char *to, size_t bytes, size_t offset, uint64_t *calls)
{
    for (size_t done = 0; done < bytes; ++*calls) {
        ssize_t n = pread(file, to + done, bytes - done, (off_t)(offset + done));
        if (!went_on(n))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    struct moved moved = {0, 0};
    relay_ready(s, file);
    PHASE(s, "send") {
        for (uint64_t n = 0; moved.bytes < bytes; n++) {
            size_t part = bytes - moved.bytes < chunk ? bytes - moved.bytes : chunk;
            if (!read_chunk(file, ring_free(s, &r, n, moved.bytes), part, moved.bytes, &moved.calls))
                break;
            ring_written(&r, n);
            moved.bytes += part;
        }
    }
    transfer_check(s, "pread", moved);
    relay_sent(s, moved.calls);
}

static void run_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    char *p = to.block;
    int file = to.file;
    size_t bytes = s->bytes, chunk = key_size(s, "chunk"), done = 0;
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    meet(s);
    PHASE(s, "receive") {
        for (uint64_t n = 0; done < bytes; n++) {
            size_t part = bytes - done < chunk ? bytes - done : chunk;
            const char *piece = ring_ready(s, &r, n, done);
            if (file < 0)
                memcpy(p + done, piece, part);
            else if (pwrite(file, piece, part, (off_t)done) != (ssize_t)part)
                break;
            ring_taken(&r, n);
            done += part;
        }
    }
    transfer_check(s, "pwrite", (struct moved){done, 0});
    WRITE_BACK(s, to);
    relay_sunk(s, &to, 0);
}

METHOD(relay_read_shm, .experiment = "relay", .name = "read-shm",
       .summary = "a reads the file straight into a ring of shared memory, b copies it out, or writes it into a "
                  "new file (`sink`).",
       .phases = FILE_SINK_PHASES, .keys = BOTH_SINKS_KEYS " chunk:size ring_chunks:count",
       .memory = "bytes + chunk * ring_chunks",
       .laws = BOTH_SINKS_LAWS,
       .calls = "send:pread64,sched_yield?,poll? receive:sched_yield?,poll?,pwrite64? write-back:fdatasync?",
       .run = run, .run_b = run_b);
