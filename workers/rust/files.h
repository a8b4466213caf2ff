/* Calls of read.rs that other methods make too. */
#ifndef PAGEWISE_RUST_FILES_H
#define PAGEWISE_RUST_FILES_H
#include "rust.h"

IN_RUST int rust_open(const char *path);
IN_RUST void rust_close(int descriptor);
IN_RUST void *rust_map(void *at, size_t bytes, int descriptor);
IN_RUST int rust_unmap(void *at, size_t bytes);
struct ring_of_reads; /* uring.rs */
IN_RUST struct ring_of_reads *rust_ring_open(unsigned depth); /* NULL, with errno */
IN_RUST int rust_ring_close(struct ring_of_reads *ring); /* an errno, or 0 */
IN_RUST void rust_ring_counts(const struct ring_of_reads *ring, uint64_t *enters, uint64_t *bytes);
#endif
