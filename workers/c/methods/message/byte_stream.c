#include "unix_path.h"
#include <fcntl.h>

TRIPS(by_stream, stream_send, stream_receive);

/* One pipe each way; side a makes both. */
static void pipes(struct slot *s)
{
    struct link l = message_begin(s);
    int forth[2], back[2];
    if (pipe2(forth, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0)
        fail(s, "pipe2");
    tell_descriptor(forth[0]);
    tell_descriptor(back[1]);
    close(forth[0]);
    close(back[1]);
    l.out = forth[1];
    l.in = back[0];
    spin_or_block(s, &l, l.in);
    spin_or_block(s, &l, l.out);
    message_ask(s, &l, &by_stream, "read or write");
    close(l.in);
    close(l.out);
    message_end(s, &l);
}
static void pipes_b(struct slot *s)
{
    struct link l = message_begin(s);
    l.in = hear_descriptor(s);
    l.out = hear_descriptor(s);
    spin_or_block(s, &l, l.in);
    spin_or_block(s, &l, l.out);
    message_answer(s, &l, &by_stream, "read or write");
    close(l.in);
    close(l.out);
    message_end(s, &l);
}
METHOD(message_pipe, .experiment = "message", .name = "pipe", .summary = "Two pipes, one each way.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:read,write,sched_yield?,poll? timed-trips:read,write,sched_yield?,poll?", .run = pipes, .run_b = pipes_b);

static void unix_path(struct slot *s) { unix_stream_a(s, &by_stream); }
static void unix_path_b(struct slot *s) { unix_stream_b(s, &by_stream); }
METHOD(message_unix_stream, .experiment = "message", .name = "unix-stream", .summary = "A Unix stream socket, by its path.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:read,write,sched_yield?,poll? timed-trips:read,write,sched_yield?,poll?", .run = unix_path, .run_b = unix_path_b);
