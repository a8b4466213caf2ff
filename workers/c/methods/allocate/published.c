/* Proofs of the published P4 program's two halves. */
#include "published.h"

void published_begin(struct slot *s)
{
    allocate_malloc(s, NULL, NULL);
    allocate_begin(s);
}

void published_zeros(struct slot *s, const char *block, bool read_all)
{
    allocate_glibc(s, block);
    fact(s, "zeros_right", allocate_all_are(block, read_all ? s->bytes : 1, 0) &&
                           mapped_present_bytes(s, block, s->bytes) >= s->bytes);
}

void published_between(struct slot *s)
{
    fact(s, "between.anonymous_bytes", allocate_anonymous_bytes(s));
}

void published_ones(struct slot *s, const char *block)
{
    fact(s, "ones_right", allocate_all_are(block, s->bytes, 1));
}
