/* The page faults of a command, one by one, by the kernel's software events. */
#ifndef PAGEWISE_FAULTS_H
#define PAGEWISE_FAULTS_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Follows the process, which has not become the command yet, and all that it starts. Where that is not permitted the reason is
 * printed with the counts, and there are none. With a file, it gets the stacks of one fault in `period` (stacks.h). */
void faults_begin(pid_t pid, const char *stacks, uint64_t period);
/* Samples the kernel's time for the process and all that it starts instead, once in `period_ns`, with the stacks; `wide`, where
 * that is permitted, by clocks of the processors (stacks.h). */
void faults_sample(pid_t pid, const char *stacks, uint64_t period_ns, bool wide);
/* How a process that runs already, of which there is a pidfd, is followed: with the stacks of one fault in `stack_period`,
 * recording one in `period`; or by samples of the kernel's time instead, by the processors' clocks where that is permitted. */
struct follow {
    int process;
    const char *stacks;
    uint64_t stack_period, period, kernel_ns;
};
/* The same of a process that runs already, with all its threads; it is not stopped. Nothing that has got the number of one that
 * ended is followed. */
void faults_attach(pid_t pid, struct follow how);
const char *faults_reason(void); /* why nothing is followed; empty where something is */
int faults_descriptor(void); /* readable when there is much to read; -1 where nothing is followed */
struct mapping_call;
void faults_call(pid_t pid, const struct mapping_call *call); /* a call that changes mappings, seen just now */
void faults_read(void);
void faults_print(void);     /* reads the rest first */
#endif
