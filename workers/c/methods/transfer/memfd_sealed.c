#include "streams.h"
#include "shared.h"
#include <fcntl.h>

#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_GET_SEALS 1034
#endif
enum { SEALS = 1 | 2 | 4 | 8 }; /* F_SEAL_SEAL, _SHRINK, _GROW, _WRITE: nobody can change it any more, side a neither */

static void run(struct slot *s)
{
    size_t bytes = s->bytes;
    char *p = transfer_source(s);
    unsigned flags = memfd_flags() | MFD_ALLOW_SEALING;
    int memory = memfd_create("pagewise-sealed", flags), sealed = -1;
    agree(s, memfd_obstacle(memory));
    check_done(s, memory < 0, "memfd_create");
    close(memory); /* Whether there are memory files is asked before; the one that is sealed is made within the phase. */
    struct moved moved = {0, 0};
    meet(s);
    PHASE(s, "send") {
        memory = memfd_create("pagewise-sealed", flags);
        if (memory >= 0) {
            moved = write_all(memory, p, bytes, bytes);
            sealed = fcntl(memory, F_ADD_SEALS, SEALS);
            tell_descriptor(memory);
        }
    }
    check_done(s, memory < 0, "memfd_create");
    transfer_check(s, "write", moved);
    check_done(s, sealed, "fcntl(F_ADD_SEALS)");
    uint64_t memory_bytes = shared_memory_bytes(memory);
    close(memory);
    transfer_sent(s, p, moved.calls, memory_bytes);
}

static void run_b(struct slot *s)
{
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    int memory, seals;
    s->ops = bytes;
    block_check_pages(s);
    agree(s, NULL);
    meet(s);
    PHASE(s, "receive") {
        memory = hear_descriptor(s);
        seals = fcntl(memory, F_GET_SEALS);
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED_NOREPLACE, memory, 0);
    }
    check_map(s, p);
    check_done(s, seals < 0, "fcntl(F_GET_SEALS)");
    close(memory);
    fact(s, "seals", (uint64_t)seals);
    transfer_received(s, p, 1, 0);
}

METHOD(transfer_memfd_sealed, .experiment = "transfer", .name = "memfd-sealed", .group = "handover",
       .summary = "The usual right answer: a writes its block into a memory file, seals it and hands the descriptor over; b maps it privately and can trust that nothing changes.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS, .memory = "3 * bytes",
       .laws = PRIVATE_LAWS "; seals % 16 == 15; send.minor_faults == 0; receive.minor_faults == 0; read-through.minor_faults >= 1",
       .calls = "send:memfd_create,write,fcntl,sendmsg receive:recvmsg,fcntl,mmap", .run = run, .run_b = run_b);
