/* The page cache of a file before the clock (cache.c). Each returns how many of the first `bytes` are cached. */
#ifndef PAGEWISE_CACHE_H
#define PAGEWISE_CACHE_H
#include "worker.h"

size_t resident_bytes(struct slot *s, int descriptor, size_t bytes);
size_t make_cold(struct slot *s, int descriptor, size_t bytes);
/* Brings all of it in by the call that `cache` names: read(2) (hot), write(2) (written) or a mapping (mapped). */
size_t make_hot(struct slot *s, int descriptor, size_t bytes);
/* After the clock: the mean size of the folios of the first 16 MiB of cached pages, where that may be seen (folio.c). */
void folio_fact(struct slot *s, int descriptor, size_t bytes);
void drop_caches(struct slot *s);
uint64_t read_ahead_kib(int descriptor); /* how far the kernel reads ahead for mappings on the file's device; 0: unknown */
#endif
