/* What a function must leave as it found it, because the functions after it run in the same process. */
#ifndef PAGEWISE_SURROUNDINGS_H
#define PAGEWISE_SURROUNDINGS_H
#include "core.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { STANDARD = 3, SIGNALS = 10, LIMITS = 7 };
struct surroundings {
    struct sigaction handlers[SIGNALS];
    struct rlimit limits[LIMITS];
    sigset_t blocked;
    struct stat files[STANDARD], folder;
    mode_t creation_mask;
};
void look_around(struct surroundings *into);
/* Takes back what a function has changed, and names it. */
const char *put_back(const struct surroundings *before);
/* Ends processes that a body left behind: it forked and did not wait, or returned in both processes. */
bool left_a_process(void);
/* Ends the launch where a body closed the transcript: nothing can be recorded any more. */
void check_transcript(const struct method *method);
#endif
