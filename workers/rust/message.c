/* The untimed half of the Rust method of `message`. */
#include "methods/message/unix_path.h"
#include "rust.h"

IN_RUST bool rust_send(struct link *l);
IN_RUST bool rust_receive(struct link *l);
IN_RUST bool rust_ask(struct link *l, uint64_t ops, uint64_t *sum);
IN_RUST bool rust_ask_timed(struct link *l, uint64_t ops, uint64_t *sum, uint64_t *latencies);
IN_RUST bool rust_answer(struct link *l, uint64_t ops, uint64_t *sum);

static void run(struct slot *s)
{
    struct trips trips = {rust_send, rust_receive, rust_ask, rust_ask_timed, rust_answer};
    unix_stream_a(s, &trips);
}

static void run_b(struct slot *s)
{
    struct trips trips = {rust_send, rust_receive, rust_ask, rust_ask_timed, rust_answer};
    unix_stream_b(s, &trips);
}

METHOD(rust_message_unix_stream, .experiment = "message", .name = "unix-stream",
       .summary = "A UnixStream by its path: write_all and read_exact.",
       .phases = MESSAGE_PHASES, .keys = MESSAGE_KEYS, .memory = "2 * bytes + 8 * ops", .laws = MESSAGE_LAWS,
       .calls = "round-trips:read?,write?,recvfrom?,sendto?,sched_yield?,poll? "
                "timed-trips:read?,write?,recvfrom?,sendto?,sched_yield?,poll?",
       .run = run, .run_b = run_b);
