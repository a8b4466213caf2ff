/* The calls that change the mappings of a command that is traced: a filter of seccomp(2) stops it at these alone. */
#ifndef PAGEWISE_MAPPINGS_H
#define PAGEWISE_MAPPINGS_H
#include <stdbool.h>
#include <sys/types.h>

void mappings_filter(void); /* in the process that becomes the command, which is traced already */
/* Takes note of a call at which a thread stopped, and returns the request of ptrace(2) that lets it go on. */
int mappings_stopped(pid_t thread, bool at_exit);
#endif
