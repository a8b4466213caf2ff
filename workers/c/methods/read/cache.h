/* The page cache of a file before the clock (cache.c). Each returns how many of the first `bytes` are cached. */
#ifndef PAGEWISE_CACHE_H
#define PAGEWISE_CACHE_H
#include "worker.h"

size_t resident_bytes(struct slot *s, int descriptor, size_t bytes);
size_t make_cold(struct slot *s, int descriptor, size_t bytes);
/* Brings all of it in by the call that `cache` names: read(2) (hot), write(2) (written) or a mapping (mapped). */
size_t make_hot(struct slot *s, int descriptor, size_t bytes);
/* After the clock (folio.c): the mean size of the folios of the first 16 MiB of cached pages, where that may be seen, and the
 * most that one fault may map: `around` or a folio; a huge page where folios may not be seen, or not all of the file's. */
enum { FAULT_AROUND_BYTES = 65536 }; /* of reads, as usual (fault_around_bytes in debugfs); a write finds its folio alone */
void folio_facts(struct slot *s, int descriptor, size_t bytes, size_t around);
void drop_caches(struct slot *s);
uint64_t read_ahead_kib(int descriptor); /* how far the kernel reads ahead for mappings on the file's device; 0: unknown */
#endif
