/* The program that children become: a file in memory that ends at once with status 42 and needs no loader. */
#ifndef PAGEWISE_FORK_PROGRAM_H
#define PAGEWISE_FORK_PROGRAM_H
#include "fork.h"

extern char *const no_words[]; /* no environment */
const char *program_path(struct slot *s);
#endif
