#include "ring.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

/* As an event loop waits: asleep in epoll_wait, and one read for the event that it names. */
static bool event_send(struct link *l)
{
    memcpy(ring_slot(l->ring_out, l->turn_out++, l->bytes), l->message, l->bytes);
    return write(l->out, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t);
}

static bool event_receive(struct link *l)
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

TRIPS(by_epoll, event_send, event_receive);

static void watch(struct slot *s, struct link *l)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = l->in};
    l->wake_in = epoll_create1(EPOLL_CLOEXEC);
    if (l->wake_in < 0 || epoll_ctl(l->wake_in, EPOLL_CTL_ADD, l->in, &event) != 0)
        fail(s, "epoll_ctl");
}

static void both(struct slot *s)
{
    if (key_is(s, "wait", "spin"))
        skip_alike(s, "epoll_wait is there to sleep; eventfd is the same ring with either");
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
        watch(s, &l);
        message_ask(s, &l, &by_epoll, "epoll_wait, read or write");
    } else {
        l.in = hear_descriptor(s);
        l.out = hear_descriptor(s);
        watch(s, &l);
        message_answer(s, &l, &by_epoll, "epoll_wait, read or write");
    }
    close(l.wake_in);
    close(l.in);
    close(l.out);
    munmap(memory, ring_bytes(s));
    message_end(s, &l);
}

METHOD(message_epoll, .experiment = "message", .name = "epoll",
       .summary = "A ring in shared memory and an eventfd each way that an event loop waits for: epoll_wait, then read.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "8 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:epoll_wait,read,write timed-trips:epoll_wait,read,write", .run = both,
       .run_b = both);
