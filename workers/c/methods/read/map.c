/* The proof that the mapped methods share. */
#include "map.h"

void map_proofs(struct slot *s, const struct input *in, const void *mapped)
{
    size_t page = s->page_bytes;
    fact(s, "mapped_bytes", resident_in(s, mapped, (in->bytes + page - 1) / page * page).rss_bytes);
}
