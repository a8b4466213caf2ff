/* The measured halves of the Rust methods (NAME.rs), as C sees them. They are there once a Rust toolchain built them. */
#ifndef PAGEWISE_RUST_H
#define PAGEWISE_RUST_H
#include "worker.h"

#define IN_RUST __attribute__((weak))
#endif
