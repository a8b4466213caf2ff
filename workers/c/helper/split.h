/* Which part of a command's CPU time was spent in the kernel, by samples. */
#ifndef PAGEWISE_SPLIT_H
#define PAGEWISE_SPLIT_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Follows the process, which has not become the command yet, and all that it starts: a sample each `period_us` of CPU time. */
void split_begin(pid_t pid, uint64_t period_us);
void split_read(void);
/* The share of the samples that were in the kernel; false where they were not permitted, lost or too few to divide by.
 * `cpu_us`: all CPU time. */
bool split_share(uint64_t cpu_us, double *kernel);
void split_print(void);
#endif
