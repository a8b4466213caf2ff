/* The proof that the mapped methods share. */
#include "map.h"

void map_proofs(struct slot *s, const struct input *in, const void *mapped)
{
    fact(s, "mapped_bytes", resident_in(s, mapped, in->bytes).rss_bytes);
}
