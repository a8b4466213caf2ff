/* Whether an instruction reads or writes memory. */
#ifndef PAGEWISE_DIRECTION_H
#define PAGEWISE_DIRECTION_H
#include <stddef.h>

enum direction { DIRECTION_UNKNOWN, DIRECTION_READ, DIRECTION_WRITE };

/* Of the machine code at the place of a page fault; unknown where the architecture's code is not read, or `bytes` are
 * too few. */
enum direction direction_of(const unsigned char *code, size_t bytes);
#endif
