/* The five pairs that every tool is asked about, as one function: the same machine code under each stopwatch. */
#ifndef WORK_H
#define WORK_H
#include <stdint.h>

enum pair { IDENTICAL = 1, STEPS_2, STEPS_5, PAGES_5, MMAP_READ };

/* Does side 0 or 1 of a pair once, some milliseconds of work. The file of MMAP_READ is named by WORK_FILE. */
#ifdef __cplusplus
extern "C"
#endif
uint64_t work(int pair, int side);
#endif
