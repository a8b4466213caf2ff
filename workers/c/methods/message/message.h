/* What the `message` methods share. A method says how both sides open their ends and how one message is sent and received;
 * the loops over round trips are the same text for all of them, compiled into each method with its send and receive. */
#ifndef PAGEWISE_MESSAGE_H
#define PAGEWISE_MESSAGE_H
#include "pin.h"
#include <sched.h>

#define MESSAGE_PHASES "round-trips timed-trips"
#define MESSAGE_KEYS "bytes:size ops:count wait:spin|block idle:no|<time> " PIN_KEY
/* Every message came back whole and in turn, at both ends; the sides ran where they were pinned; who spins is not switched out.
 * Side b's facts begin with `b.`. */
#define SPIN_LAWS                                                                                                      \
    "wrong_messages == 0; b.wrong_messages == 0; sequence_sum == expected_sequence_sum; "                              \
    "b.sequence_sum == expected_sequence_sum; " PIN_LAWS "; "                                                          \
    "wait=spin: round-trips.voluntary_switches <= ops / 50"
/* Where a way can also block, who does is switched out, and has talked for 20 ms before. */
#define MESSAGE_LAWS                                                                                                   \
    SPIN_LAWS "; pause_us > 0: idle_us >= pause_us * ops; "                                                            \
              "wait=block & idle=no & pin=l3: settled_us >= 20000; "                                                   \
    "wait=block & pin=same: round-trips.voluntary_switches + round-trips.involuntary_switches >= ops - ops / 50"

/* One end of a way to pass messages. A method uses those fields that it needs. */
struct link {
    size_t bytes;
    bool spin;
    unsigned char *message;      /* what is sent from, and received into */
    int in, out;                 /* descriptors */
    int wake_in, wake_out;
    char *ring_in, *ring_out;    /* shared memory */
    uint64_t turn_in, turn_out;  /* messages received and sent so far */
};

/* Sends or receives the one message at `l->message`; false with errno set where that fails. */
typedef bool transfer(struct link *l);

struct trips {
    transfer *send, *receive;
    bool (*ask)(struct link *l, uint64_t ops, uint64_t *sum);
    bool (*ask_timed)(struct link *l, uint64_t ops, uint64_t *sum, uint64_t *latencies);
    bool (*answer)(struct link *l, uint64_t ops, uint64_t *sum);
};

/* The message's first bytes carry its turn, so that an old, lost or repeated one is noticed by the sum of all turns. */
static inline __attribute__((always_inline)) void stamp(struct link *l, uint64_t turn)
{
    if (l->bytes >= sizeof turn)
        memcpy(l->message, &turn, sizeof turn);
    else
        l->message[0] = (unsigned char)turn;
}

static inline __attribute__((always_inline)) uint64_t stamp_of(const struct link *l)
{
    uint64_t turn = l->message[0];
    if (l->bytes >= sizeof turn)
        memcpy(&turn, l->message, sizeof turn);
    return turn;
}

/* Who spins gives its turn of the CPU away after this many fruitless tries, some 100 us: were the other side waiting for this
 * very CPU, both would wait for the scheduler's tick. While the other side runs, that many are never made. Then is also the
 * time to look whether it is still there; false where it has ended. */
enum { TRIES_IN_MEMORY = 20000, TRIES_IN_KERNEL = 200 };

static inline __attribute__((always_inline)) bool tried(unsigned *tries, unsigned patience)
{
    if (++*tries % patience != 0)
        return true;
    sched_yield();
    if (!peer_gone())
        return true;
    errno = EPIPE;
    return false;
}

#define TRIPS(variable, send_one, receive_one)                                                                         \
    static bool variable##_ask(struct link *l, uint64_t ops, uint64_t *sum)                                            \
    {                                                                                                                  \
        for (uint64_t i = 0; i < ops; i++) {                                                                           \
            stamp(l, i);                                                                                               \
            if (!send_one(l) || !receive_one(l))                                                                       \
                return false;                                                                                          \
            *sum += stamp_of(l);                                                                                       \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    static bool variable##_ask_timed(struct link *l, uint64_t ops, uint64_t *sum, uint64_t *latencies)                 \
    {                                                                                                                  \
        uint64_t last = now_ns();                                                                                      \
        for (uint64_t i = 0; i < ops; i++) {                                                                           \
            stamp(l, i);                                                                                               \
            if (!send_one(l) || !receive_one(l))                                                                       \
                return false;                                                                                          \
            *sum += stamp_of(l);                                                                                       \
            uint64_t now = now_ns();                                                                                   \
            latencies[i] = now - last;                                                                                 \
            last = now;                                                                                                \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    static bool variable##_answer(struct link *l, uint64_t ops, uint64_t *sum)                                         \
    {                                                                                                                  \
        for (uint64_t i = 0; i < ops; i++) {                                                                           \
            if (!receive_one(l))                                                                                       \
                return false;                                                                                          \
            *sum += stamp_of(l);                                                                                       \
            if (!send_one(l))                                                                                          \
                return false;                                                                                          \
        }                                                                                                              \
        return true;                                                                                                   \
    }                                                                                                                  \
    static const struct trips variable = {send_one, receive_one, variable##_ask, variable##_ask_timed, variable##_answer}

/* Before the ends are opened: checks the cell, allocates and faults in what the loops use. */
struct link message_begin(struct slot *s);
/* All phases and checks, for side a and for side b. */
void message_ask(struct slot *s, struct link *l, const struct trips *trips, const char *call);
void message_answer(struct slot *s, struct link *l, const struct trips *trips, const char *call);
/* After the ends are closed. */
void message_end(struct slot *s, struct link *l);

/* accept4() gives up after ten seconds: a peer that died before it connected will never come. */
int accept_for_a_while(int listener);
#endif
