/* Calls of read.rs that other methods make too. */
#ifndef PAGEWISE_RUST_FILES_H
#define PAGEWISE_RUST_FILES_H
#include "rust.h"

IN_RUST int rust_open(const char *path);
IN_RUST void rust_close(int descriptor);
IN_RUST void *rust_map(void *at, size_t bytes, int descriptor);
IN_RUST int rust_unmap(void *at, size_t bytes);
#endif
