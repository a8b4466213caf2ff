/* What the userfaultfd methods share: the descriptor, the thread that answers, the phases. */
#ifndef PAGEWISE_FAULT_USERFAULT_H
#define PAGEWISE_FAULT_USERFAULT_H
#include "kinds.h"
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>

/* Each page was asked for once. A fault that another thread answered is tried twice; which of the counters has it is the
 * kernel's affair. */
#define USERFAULT_LAWS                                                                                                 \
    "served == bytes / page_bytes; first-touch.rss_bytes == bytes; huge_bytes == 0; " RE_TOUCH_LAW "; "       \
    "first-touch.minor_faults + first-touch.major_faults <= 2 * (bytes / page_bytes)"
/* The touching thread makes no call; read(2) and ioctl(2) are the other thread's, which the clock covers all the same. */
#define USERFAULT_CALLS "map:mmap unmap:munmap"

struct userfault {
    int descriptor;
    char *p;
    size_t page;
    uint64_t pages, served;
    const char *lost;    /* the call that failed, so that nobody answers any more; `error` is what it answered */
    int error;
    bool (*answer)(const struct userfault *, uint64_t address);
    char *source;        /* what `answer` copies from */
    pthread_t thread;
    bool by_process;     /* a forked process answers, not a thread; then this struct lies in memory that both share */
    pid_t process;
};

/* `features` of the kernel that the method needs; skips where they or the permission are missing. */
void userfault_open(struct slot *s, struct userfault *u, uint64_t features, const char *since);
void userfault_register(struct slot *s, struct userfault *u, uint64_t mode);
/* Ends a thread that waits in read(2): a signal interrupts it until it has seen `stop` and said `ended`. Not 0, with errno,
 * where it could not. */
int userfault_interrupt(pthread_t thread, _Atomic bool *stop, const _Atomic bool *ended);
/* Phases first-touch, re-touch and unmap: pages are touched by this thread and answered by another, or by a process. */
void userfault_run(struct slot *s, struct userfault *u);
#endif
