/* Reading from or writing into the other side's memory: the kernel copies once, and only one side works. */
#ifndef PAGEWISE_PROCESS_VM_H
#define PAGEWISE_PROCESS_VM_H
#include "transfer.h"
#include <sys/types.h>

struct place {
    pid_t pid;
    char *start;
};
/* The side whose memory is used names the other one as permitted (Yama asks for it) and tells where its block is. */
void offer_memory(struct slot *s, char *p);
/* The working side: hears where, tries one byte; without the right to do it both sides skip the cell. */
struct place offered_memory(struct slot *s, bool writing);
#endif
