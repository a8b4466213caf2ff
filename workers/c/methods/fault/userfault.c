/* The userfaultfd methods' descriptor and the thread that answers (userfaultfd(2), ioctl_userfaultfd(2)). */
#include "userfault.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11: needs no right, for faults of the program itself */
#define UFFD_USER_MODE_ONLY 1
#endif

void userfault_open(struct slot *s, struct userfault *u, uint64_t features, const char *since)
{
    u->page = s->page_bytes;
    u->pages = s->bytes / s->page_bytes;
    u->descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (u->descriptor < 0 && errno == EINVAL)
        u->descriptor = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (u->descriptor < 0 && errno == ENOSYS)
        skip(s, "this kernel has no userfaultfd (CONFIG_USERFAULTFD)");
    if (u->descriptor < 0 && errno == EPERM)
        skip(s, "userfaultfd is not permitted (in a container by its seccomp filter): sudo sysctl vm.unprivileged_userfaultfd=1");
    if (u->descriptor < 0)
        fail(s, "userfaultfd");
    struct uffdio_api api = {.api = UFFD_API, .features = features};
    int known = ioctl(u->descriptor, UFFDIO_API, &api);
    if (known != 0 && errno != EINVAL)
        fail(s, "ioctl UFFDIO_API");
    if (known != 0) {
        close(u->descriptor);
        skip(s, arena_text("this kernel's userfaultfd lacks the feature: %s", since));
    }
}

void userfault_register(struct slot *s, struct userfault *u, uint64_t mode)
{
    struct uffdio_register range = {.range = {(uintptr_t)u->p, s->bytes}, .mode = mode};
    if (ioctl(u->descriptor, UFFDIO_REGISTER, &range) != 0)
        fail(s, "ioctl UFFDIO_REGISTER");
}

/* Nobody answers any more: what waits for a page, and what comes later, gets it from the kernel. */
static void *lose(struct userfault *u, const char *call)
{
    u->error = errno;
    u->lost = call;
    struct uffdio_range all = {(uintptr_t)u->p, u->pages * u->page};
    ioctl(u->descriptor, UFFDIO_UNREGISTER, &all);
    ioctl(u->descriptor, UFFDIO_WAKE, &all); /* the first call wakes who waits for a missing page, and nobody else */
    return NULL;
}

/* As many events as there are pages: each page is touched once. */
static void *serve(void *argument)
{
    struct userfault *u = argument;
    struct uffd_msg message;
    while (u->served < u->pages) {
        ssize_t got = read(u->descriptor, &message, sizeof message);
        if (got < 0 && errno == EINTR)
            continue;
        errno = got < 0 ? errno : EIO;
        if (got != sizeof message)
            return lose(u, "read");
        if (message.event != UFFD_EVENT_PAGEFAULT)
            continue;
        if (!u->answer(u, message.arg.pagefault.address & ~(uint64_t)(u->page - 1)))
            return lose(u, "ioctl");
        u->served++;
    }
    return NULL;
}

static void begin_serving(struct slot *s, struct userfault *u)
{
    if (!u->by_process) {
        if ((errno = pthread_create(&u->thread, NULL, serve, u)) != 0)
            fail(s, "pthread_create");
        return;
    }
    pid_t process = fork(); /* not straight into what both share: the child would write its 0 there */
    if (process < 0)
        fail(s, "fork");
    if (process == 0) { /* what it supplies goes into its parent's memory, whose the descriptor is */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(u);
        _exit(0);
    }
    u->process = process;
}

static void end_serving(struct slot *s, struct userfault *u)
{
    int status = 0;
    if (!u->by_process)
        pthread_join(u->thread, NULL);
    else if (waitpid(u->process, &status, 0) != u->process || status != 0)
        fail_because(s, "waitpid", "the process that answers the faults did not end well");
}

void userfault_run(struct slot *s, struct userfault *u)
{
    char *p = u->p, mark = page_mark(s);
    size_t bytes = s->bytes;
    struct part all = {p, bytes, s->page_bytes, mark};
    begin_serving(s, u);
    PHASE(s, "first-touch") { touch_pages(&all); }
    end_serving(s, u);
    errno = u->error;
    check_done(s, u->lost != NULL, u->lost);
    fact(s, "served", u->served);
    fault_proofs(s, p);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PHASE(s, "re-touch") { touch_pages(&all); }
    close(u->descriptor);
    kind_unmap(s, p);
}

static void interrupted(int number)
{
    (void)number;
}

/* No pthread_cancel(): that loads a library, which may not be there. */
int userfault_interrupt(pthread_t thread, _Atomic bool *stop, const _Atomic bool *ended)
{
    struct sigaction action = {.sa_handler = interrupted}, before;
    if (sigaction(SIGUSR1, &action, &before) != 0)
        return -1;
    *stop = true;
    while (!*ended) {
        pthread_kill(thread, SIGUSR1);
        sched_yield();
    }
    pthread_join(thread, NULL);
    return sigaction(SIGUSR1, &before, NULL);
}
