#include "transfer.h"
#include "ring.h"

static void run(struct slot *s)
{
    size_t bytes = s->bytes, chunk = key_size(s, "chunk"), done = 0;
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    char *p = transfer_source(s);
    meet(s);
    PHASE(s, "send") {
        for (uint64_t n = 0; done < bytes; n++) {
            size_t part = bytes - done < chunk ? bytes - done : chunk;
            memcpy(ring_free(s, &r, n, done), p + done, part);
            ring_written(&r, n);
            done += part;
        }
    }
    transfer_sent(s, p, 0, r.memory_bytes);
    ring_close(&r);
}

static void run_b(struct slot *s)
{
    size_t bytes = s->bytes, chunk = key_size(s, "chunk"), done = 0;
    struct ring r = ring_open(s, chunk, key_size(s, "ring_chunks"));
    char *p = transfer_target(s);
    meet(s);
    PHASE(s, "receive") {
        for (uint64_t n = 0; done < bytes; n++) {
            size_t part = bytes - done < chunk ? bytes - done : chunk;
            memcpy(p + done, ring_ready(s, &r, n, done), part);
            ring_taken(&r, n);
            done += part;
        }
    }
    transfer_received(s, p, 0, 0);
    ring_close(&r);
}

METHOD(transfer_shm_ring, .experiment = "transfer", .name = "shm-ring",
       .summary = "A ring of a few chunks in shared memory: a copies in while b copies out; nobody enters the kernel unless it must wait long.",
       .phases = TRANSFER_PHASES, .keys = "bytes:size chunk:size ring_chunks:count",
       .memory = "2 * bytes + chunk * ring_chunks", .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = "send:sched_yield,poll receive:sched_yield,poll", .run = run, .run_b = run_b);
