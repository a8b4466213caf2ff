/* Whether an instruction reads or writes memory. */
#ifndef PAGEWISE_DIRECTION_H
#define PAGEWISE_DIRECTION_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A copy, by one instruction, reads at one address and writes at another. */
enum direction { DIRECTION_UNKNOWN, DIRECTION_READ, DIRECTION_WRITE, DIRECTION_COPY };

/* Of the machine code at the place of a page fault; unknown where the architecture's code is not read, or `bytes` are
 * too few. */
enum direction direction_of(const unsigned char *code, size_t bytes);
/* The same of the code at `ip`; asked soon after the fault, while the process is there. */
enum direction direction_at(pid_t pid, uint64_t ip);
#endif
