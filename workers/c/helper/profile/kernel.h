/* The kernel's work that a sample of its time met, by the functions that had called each other. */
#ifndef PAGEWISE_KERNEL_H
#define PAGEWISE_KERNEL_H
#include <stdbool.h>
#include <stdint.h>

enum { SAMPLED = 32 }; /* kinds of samples follow those of `struct touched` */

bool kernel_names(void); /* reads the kernel's symbols; false where they are not shown */
/* The kind of work of a call chain as perf has it, the innermost function first, and the system call that it entered by. */
int kernel_work(const uint64_t *chain, uint64_t count, const char **call);
void kernel_count(int kind, const char *call);
/* `whole`: no stretch of a process is without samples. */
void kernel_print(uint64_t period_ns, uint64_t lost, bool whole);
#endif
