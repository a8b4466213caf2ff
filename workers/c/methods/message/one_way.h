/* Messages that nobody answers: how many a second. Each carries its turn, whose sum must come out at the receiver; the sender's
 * phase ends when the receiver has said that it has the last one. */
#ifndef PAGEWISE_MESSAGE_ONE_WAY_H
#define PAGEWISE_MESSAGE_ONE_WAY_H
#include "streams.h"

#define ONE_WAY_PHASES "one-way"
#define ONE_WAY_LAWS "b.sequence_sum == expected_sequence_sum; last_came == 1; " PIN_LAWS

static inline uint64_t one_way_sum(size_t bytes, uint64_t ops)
{
    uint64_t rest = ops % 256;
    return bytes >= sizeof(uint64_t) ? ops * (ops - 1) / 2 : ops / 256 * (255 * 256 / 2) + rest * (rest - 1) / 2;
}

static inline void one_way_sent(struct slot *s, struct link *l, uint64_t ops)
{
    fact(s, "expected_sequence_sum", one_way_sum(l->bytes, ops));
    stamp(l, ops - 1);
    fact_digest(s, l->message, l->bytes);
}

static inline void one_way_received(struct slot *s, struct link *l, uint64_t sum)
{
    fact(s, "b.sequence_sum", sum);
    fact_digest(s, l->message, l->bytes);
}
#endif
