#include "process_vm.h"
#include "streams.h"

static inline struct moved pull(pid_t pid, char *from, char *p, size_t bytes)
{
    size_t chunk = bytes;
    EACH_PIECE(process_vm_readv(pid, &(struct iovec){p + moved.bytes, piece}, 1,
                                &(struct iovec){from + moved.bytes, piece}, 1, 0));
}

static void run(struct slot *s)
{
    char *p = transfer_source(s);
    offer_memory(s, p);
    meet(s);
    PHASE(s, "send") { }
    transfer_sent(s, p, 0, 0);
}

static void run_b(struct slot *s)
{
    char *p = transfer_target(s);
    struct place a = offered_memory(s, false);
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "receive") { moved = pull(a.pid, a.start, p, bytes); }
    transfer_check(s, "process_vm_readv", moved);
    transfer_received(s, p, moved.calls, 0);
}

METHOD(transfer_process_vm_readv, .experiment = "transfer", .name = "process-vm-readv",
       .summary = "b takes the block out of a's memory by process_vm_readv; a does nothing.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY, .memory = "2 * bytes", .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = "receive:process_vm_readv", .run = run, .run_b = run_b);
