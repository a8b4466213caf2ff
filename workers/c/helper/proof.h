/* What a command under a try really used, read from /proc while it runs and just before each of its processes ends. */
#ifndef PAGEWISE_PROOF_H
#define PAGEWISE_PROOF_H
#include <stdbool.h>
#include <sys/types.h>

void proof_watch(const char *path);             /* a library that should be mapped */
void proof_expect(const char *variable);        /* VAR=VALUE that should stand in the environment */
bool proof_begin(pid_t pid);                    /* follows this process and all that it starts; false where it may not */
void proof_stopped(pid_t pid, int status);      /* takes note of a stop and lets the process go on */
void proof_look_at_all(void);
void proof_look_at_modules(pid_t pid);          /* takes note of its files of code alone */
void proof_print(void);
void proof_print_modules(void);                 /* a proof that has those alone */
int for_each_child(int number);                 /* sends the signal to each living child; how many there are */
#endif
