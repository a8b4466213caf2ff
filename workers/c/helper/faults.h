/* The page faults of a command, one by one, by the kernel's software events. */
#ifndef PAGEWISE_FAULTS_H
#define PAGEWISE_FAULTS_H
#include <sys/types.h>

/* Follows the process, which has not become the command yet, and all that it starts. Where that is not permitted the reason is
 * printed with the counts, and there are none. */
void faults_begin(pid_t pid);
int faults_descriptor(void); /* readable when there is much to read; -1 where nothing is followed */
void faults_read(void);
void faults_print(void);     /* reads the rest first */
#endif
