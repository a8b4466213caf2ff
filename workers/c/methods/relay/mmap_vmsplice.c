#include "receive.h"

static void run(struct slot *s)
{
    int file = relay_file(s, vmsplice_probe(s, 0)), fd = pipe_to_b(s, key_size(s, "pipe_bytes"), NULL);
    size_t bytes = s->bytes, chunk = key_size(s, "chunk");
    char *p = MAP_FAILED, *at = free_range(s, bytes);
    struct moved moved = {0, 0};
    int left = 0;
    relay_ready(s, file);
    PHASE(s, "send") {
        p = mmap(at, bytes, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
        if (p != MAP_FAILED) {
            moved = vmsplice_all(fd, p, bytes, chunk, 0);
            left = munmap(p, bytes); /* the pipe keeps the pages that it still holds */
        }
    }
    check_map(s, p);
    check_done(s, left, "munmap");
    transfer_check(s, "vmsplice", moved);
    relay_sent(s, moved.calls + 2);
}

static void run_b(struct slot *s)
{
    relay_read(s, pipe_from_a);
}

METHOD(relay_mmap_vmsplice, .experiment = "relay", .name = "mmap-vmsplice",
       .summary = "a maps the file and lends the mapped pages to a pipe by vmsplice, b reads the pipe.",
       .phases = RELAY_PHASES, .keys = RELAY_KEYS " chunk:size pipe_bytes:size", .memory = "bytes",
       .laws = RELAY_LAWS "; granted_pipe_bytes == pipe_bytes; vmsplice_shares_pages == 1",
       .calls = "send:mmap,vmsplice,munmap receive:read", .run = run, .run_b = run_b);
