#include "process_vm.h"
#include "streams.h"

static inline struct moved push(pid_t pid, char *to, char *p, size_t bytes)
{
    size_t chunk = bytes;
    EACH_PIECE(process_vm_writev(pid, &(struct iovec){p + moved.bytes, piece}, 1,
                                &(struct iovec){to + moved.bytes, piece}, 1, 0));
}

static void run(struct slot *s)
{
    char *p = transfer_source(s);
    struct place b = offered_memory(s, true);
    size_t bytes = s->bytes;
    struct moved moved;
    meet(s);
    PHASE(s, "send") { moved = push(b.pid, b.start, p, bytes); }
    transfer_check(s, "process_vm_writev", moved);
    transfer_sent(s, p, moved.calls, 0);
}

static void run_b(struct slot *s)
{
    char *p = transfer_target(s);
    offer_memory(s, p);
    meet(s);
    PHASE(s, "receive") { }
    transfer_received(s, p, 0, 0);
}

METHOD(transfer_process_vm_writev, .experiment = "transfer", .name = "process-vm-writev",
       .summary = "a puts the block into b's memory by process_vm_writev; b does nothing.",
       .phases = TRANSFER_PHASES, .keys = TRANSFER_KEYS PAGES_KEY, .memory = "2 * bytes", .laws = PRIVATE_LAWS RESIDENT_LAWS,
       .calls = "send:process_vm_writev", .run = run, .run_b = run_b);
