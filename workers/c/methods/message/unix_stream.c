#include "unix_path.h"

TRIPS(by_unix_stream, stream_send, stream_receive);

static void run(struct slot *s)
{
    unix_stream_a(s, &by_unix_stream);
}

static void run_b(struct slot *s)
{
    unix_stream_b(s, &by_unix_stream);
}

METHOD(message_unix_stream, .experiment = "message", .name = "unix-stream", .summary = "A Unix stream socket, by its path.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:read,write,sched_yield?,poll? timed-trips:read,write,sched_yield?,poll?", .run = run, .run_b = run_b);
