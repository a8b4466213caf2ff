/* The registers and the stack memory of a part of the page faults, from which the laboratory finds their callers. */
#ifndef PAGEWISE_STACKS_H
#define PAGEWISE_STACKS_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_mmap_page;

/* One of every `period` faults, as the kernel saved it. */
struct saved_stack {
    uint64_t pc, sp, fp, lr, bytes;
    int kind; /* of a sample of the kernel's time; -1 where the fault's own record has it */
    const char *call; /* of such a sample */
    unsigned char memory[];
};

/* Which events: with those in kernel mode; of a process that runs already, not of what is executed next; one in `period`
 * faults, or, where `clock` is set, one sample of the kernel's time in `period` nanoseconds. The clock of a process starts with
 * it, so that the first of its samples comes after a whole period. With `wide` the clocks are the processors', of whose samples
 * those of other processes are left out: it needs the right to see all of them. */
struct stack_events {
    bool in_kernel, attached, clock, wide;
    uint64_t period;
};

/* Opens the events; where that is not possible the reason is printed with the counts. */
void stacks_begin(pid_t pid, struct stack_events events, const char *path);
void stacks_start(void); /* those of a process that runs already, which wait for it */
void stacks_join(pid_t pid, pid_t thread); /* a further thread that runs already */
void stacks_poll(int poll); /* adds the events to an epoll(7) */
/* Calls `take` with every stack that was saved since, its time and page, and how many were lost before it. */
typedef void stacks_taker(pid_t pid, uint64_t time, uint64_t address, uint32_t lost, struct saved_stack *stack);
void stacks_read(stacks_taker *take);
/* Writes into the file of stacks, in the order in which things happened. */
void stacks_write(const struct saved_stack *stack, pid_t pid, int kind, uint32_t weight);
void stacks_map(pid_t pid, uint64_t start, uint64_t bytes, uint64_t offset, const char *path);
void stacks_fork(pid_t parent, pid_t child);
void stacks_exec(pid_t pid);
void stacks_print(void);
uint64_t stacks_lost(void); /* of all that were to be saved */
bool stacks_are_wide(void);
#endif
