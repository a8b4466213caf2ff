#include "ring.h"
#include <sys/epoll.h>
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

/* As an event loop waits: asleep in epoll_wait, and one read for the event that it names. */
static bool polled_receive(struct link *l)
{
    struct epoll_event event;
    uint64_t count;
    int ready;
    while ((ready = epoll_wait(l->wake_in, &event, 1, -1)) < 0 && errno == EINTR)
        continue;
    if (ready != 1 || read(event.data.fd, &count, sizeof count) != sizeof count)
        return false;
    memcpy(l->message, ring_slot(l->ring_in, l->turn_in++, l->bytes), l->bytes);
    return true;
}

TRIPS(by_eventfd, event_send, event_receive);
TRIPS(by_epoll, event_send, polled_receive);

static void watch(struct slot *s, struct link *l)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = l->in};
    l->wake_in = epoll_create1(EPOLL_CLOEXEC);
    if (l->wake_in < 0 || epoll_ctl(l->wake_in, EPOLL_CTL_ADD, l->in, &event) != 0)
        fail(s, "epoll_ctl");
}

static void both(struct slot *s, const struct trips *trips, bool polls, const char *calls)
{
    struct link l = message_begin(s);
    char *memory = shared_by_descriptor(s, ring_bytes(s));
    ring_ends(s, &l, memory);
    if (s->role == 'a') {
        l.out = eventfd(0, EFD_CLOEXEC);
        l.in = eventfd(0, EFD_CLOEXEC);
        if (l.in < 0 || l.out < 0)
            fail(s, "eventfd");
        tell_descriptor(l.out);
        tell_descriptor(l.in);
    } else {
        l.in = hear_descriptor(s);
        l.out = hear_descriptor(s);
    }
    if (polls)
        watch(s, &l);
    else
        spin_or_block(s, &l, l.in);
    (s->role == 'a' ? message_ask : message_answer)(s, &l, trips, calls);
    if (polls)
        close(l.wake_in);
    close(l.in);
    close(l.out);
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

static void reads(struct slot *s) { both(s, &by_eventfd, false, "read or write"); }
METHOD(message_eventfd, .experiment = "message", .name = "eventfd",
       .summary = "A ring in shared memory; an eventfd each way says that something is in it.", .phases = MESSAGE_PHASES,
       .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:read,write,sched_yield?,poll? timed-trips:read,write,sched_yield?,poll?", .run = reads, .run_b = reads);

static void polls(struct slot *s)
{
    if (key_is(s, "wait", "spin"))
        skip_alike(s, "epoll_wait is there to sleep; eventfd is the same ring with either");
    both(s, &by_epoll, true, "epoll_wait, read or write");
}
METHOD(message_epoll, .experiment = "message", .name = "epoll",
       .summary = "A ring in shared memory and an eventfd each way that an event loop waits for: epoll_wait, then read.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:epoll_wait,read,write timed-trips:epoll_wait,read,write", .run = polls,
       .run_b = polls);
