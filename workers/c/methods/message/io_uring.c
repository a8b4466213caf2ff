#include "methods/read/ring.h"
#include "ring.h"
#include <linux/io_uring.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

/* Who waits has its own ring: the read of the eventfd is submitted and waited for by one call. */
enum { READ_OP = 22 }; /* IORING_OP_READ, which headers before Linux 5.6 do not have */
static struct ring own;
static uint64_t count;

static bool event_send(struct link *l)
{
    memcpy(ring_slot(l->ring_out, l->turn_out++, l->bytes), l->message, l->bytes);
    return write(l->out, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t);
}

static bool uring_receive(struct link *l)
{
    unsigned tail = *own.sq_tail, at = tail & *own.sq_mask, head = *own.cq_head, submit = 1;
    own.sqes[at] = (struct io_uring_sqe){.opcode = READ_OP, .fd = l->in, .addr = (uintptr_t)&count, .len = sizeof count};
    own.sq_array[at] = at;
    __atomic_store_n(own.sq_tail, tail + 1, __ATOMIC_RELEASE);
    while (head == __atomic_load_n(own.cq_tail, __ATOMIC_ACQUIRE)) {
        long taken = syscall(SYS_io_uring_enter, own.descriptor, submit, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        if (taken < 0 && errno != EINTR)
            return false;
        submit = taken > 0 ? 0 : submit;
    }
    int result = own.cqes[head & *own.cq_mask].res;
    __atomic_store_n(own.cq_head, head + 1, __ATOMIC_RELEASE);
    memcpy(l->message, ring_slot(l->ring_in, l->turn_in++, l->bytes), l->bytes);
    errno = result < 0 ? -result : EIO;
    return result == sizeof count;
}

TRIPS(by_io_uring, event_send, uring_receive);

static void both(struct slot *s)
{
    if (key_is(s, "wait", "spin"))
        skip_alike(s, "io_uring_enter is there to sleep; eventfd is the same ring with either");
    struct link l = message_begin(s);
    own = (struct ring){.depth = 4};
    const char *hint = "an old kernel, kernel.io_uring_disabled, or a seccomp filter";
    agree(s, (errno = uring_open(&own)) ? refused(own.descriptor < 0 ? "io_uring_setup" : "mmap", hint) : NULL);
    char *memory = shared_by_descriptor(s, ring_bytes(s));
    ring_ends(s, &l, memory);
    if (s->role == 'a') {
        l.out = eventfd(0, EFD_CLOEXEC);
        l.in = eventfd(0, EFD_CLOEXEC);
        if (l.in < 0 || l.out < 0)
            fail(s, "eventfd");
        tell_descriptor(l.out);
        tell_descriptor(l.in);
        message_ask(s, &l, &by_io_uring, "io_uring_enter or write");
    } else {
        l.in = hear_descriptor(s);
        l.out = hear_descriptor(s);
        message_answer(s, &l, &by_io_uring, "io_uring_enter or write");
    }
    uring_close(&own);
    close(l.in);
    close(l.out);
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

METHOD(message_io_uring, .experiment = "message", .name = "io_uring",
       .summary = "A ring in shared memory and an eventfd each way, whose read is submitted and waited for by one io_uring_enter.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:io_uring_enter,write timed-trips:io_uring_enter,write", .run = both,
       .run_b = both);
