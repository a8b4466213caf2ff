#include "ring.h"
#include <sys/eventfd.h>

/* An eventfd carries a count and no payload; the payload lies in a ring in shared memory. */
static bool event_send(struct link *l)
{
    memcpy(ring_slot(l->ring_out, l->turn_out++, l->bytes), l->message, l->bytes);
    return write(l->out, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t);
}

static bool event_receive(struct link *l)
{
    uint64_t count;
    ssize_t got;
    unsigned tries = 0;
    while ((got = read(l->in, &count, sizeof count)) < 0 && (errno == EAGAIN || errno == EINTR))
        if (!tried(&tries, TRIES_IN_KERNEL))
            return false;
    memcpy(l->message, ring_slot(l->ring_in, l->turn_in++, l->bytes), l->bytes);
    return got == sizeof count;
}

TRIPS(by_eventfd, event_send, event_receive);

static void run(struct slot *s)
{
    struct link l = message_begin(s);
    char *memory = shared_by_descriptor(s, ring_bytes(s));
    ring_ends(s, &l, memory);
    l.out = eventfd(0, EFD_CLOEXEC);
    l.in = eventfd(0, EFD_CLOEXEC);
    if (l.in < 0 || l.out < 0)
        fail(s, "eventfd");
    spin_or_block(s, &l, l.in);
    tell_descriptor(l.out);
    tell_descriptor(l.in);
    message_ask(s, &l, &by_eventfd, "read or write");
    close(l.in);
    close(l.out);
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

static void run_b(struct slot *s)
{
    struct link l = message_begin(s);
    char *memory = shared_by_descriptor(s, ring_bytes(s));
    ring_ends(s, &l, memory);
    l.in = hear_descriptor(s);
    l.out = hear_descriptor(s);
    spin_or_block(s, &l, l.in);
    message_answer(s, &l, &by_eventfd, "read or write");
    close(l.in);
    close(l.out);
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

METHOD(message_eventfd, .experiment = "message", .name = "eventfd",
       .summary = "A ring in shared memory; an eventfd each way says that something is in it.", .phases = MESSAGE_PHASES,
       .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:read,write,sched_yield?,poll? timed-trips:read,write,sched_yield?,poll?", .run = run, .run_b = run_b);
