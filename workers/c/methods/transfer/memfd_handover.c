#include "transfer.h"
#include "shared.h"
#include <sys/stat.h>

static void run(struct slot *s)
{
    size_t bytes = s->bytes;
    int memory = memfd_create(launch_name(), memfd_flags());
    agree(s, memfd_obstacle(memory));
    check_done(s, memory < 0, "memfd_create");
    check_done(s, ftruncate(memory, (off_t)bytes), "ftruncate");
    char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory, 0);
    check_map(s, p);
    pattern_fill(p, bytes, s->seed);
    s->ops = bytes;
    meet(s);
    PHASE(s, "send") { tell_descriptor(memory); }
    transfer_sent(s, p, 1, 0);
    close(memory);
}

static void run_b(struct slot *s)
{
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int memory;
    s->ops = bytes;
    agree(s, NULL); /* a has its memory file */
    meet(s);
    PHASE(s, "receive") {
        memory = hear_descriptor(s);
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory, 0);
    }
    check_map(s, p);
    close(memory);
    transfer_received(s, p, 2, 0);
}

METHOD(transfer_memfd_handover, .experiment = "transfer", .name = "memfd-handover", .group = "handover",
       .summary = "Another semantic: a hands the descriptor of its memory over and b maps the same pages; nothing is copied and b gets no copy of its own.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS, .memory = "2 * bytes",
       .laws = "wrong_at == bytes; source_wrong_at == bytes; sees_later_change == 1; send.minor_faults == 0",
       .calls = "send:sendmsg receive:recvmsg,mmap", .run = run, .run_b = run_b);
