/* Refused system calls: each is made once with an argument that no kernel takes. A kernel that knows the call answers EINVAL
 * or such; EPERM, ENOSYS or a signal instead is the answer of a seccomp filter, or of a setting that forbids the call. */
#include "core.h"
#include "verb.h"
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

enum { NOT = 1 << 30 }; /* a flag that no call has */

/* Each with the first release of Linux that has it, and its arguments. */
static const struct {
    const char *name;
    int major, minor;
    long number, arguments[6];
} calls[] = {
    {"cachestat", 6, 5, SYS_cachestat, {-1, 0, 0, NOT}},
    {"io_uring_setup", 5, 1, SYS_io_uring_setup, {0, 0}},
    {"mbind", 2, 6, SYS_mbind, {0, 0, NOT}},
    {"memfd_create", 3, 17, SYS_memfd_create, {0, NOT}},
    {"mlock2", 4, 4, SYS_mlock2, {0, 0, NOT}},
    {"move_pages", 2, 6, SYS_move_pages, {0, 0, 0, 0, 0, NOT}},
    {"perf_event_open", 2, 6, SYS_perf_event_open, {0, 0, -1, -1, 0}},
    {"process_madvise", 5, 10, SYS_process_madvise, {-1, 0, 0, 0, NOT}},
    {"process_vm_readv", 3, 2, SYS_process_vm_readv, {0, 0, 0, 0, 0, NOT}},
    {"process_vm_writev", 3, 2, SYS_process_vm_writev, {0, 0, 0, 0, 0, NOT}},
    {"ptrace", 2, 6, SYS_ptrace, {NOT, 0}},
    {"userfaultfd", 4, 3, SYS_userfaultfd, {NOT | 1}}, /* 1: for faults in user mode only, which need no rights */
    {"vmsplice", 2, 6, SYS_vmsplice, {-1, 0, 0, NOT}},
};

/* A filter may end who makes the call, hence a child. */
static bool is_refused(size_t i)
{
    const long *a = calls[i].arguments;
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(syscall(calls[i].number, a[0], a[1], a[2], a[3], a[4], a[5]) == -1 && (errno == EPERM || errno == ENOSYS));
    return child > 0 && waitpid(child, &status, 0) == child && status != 0;
}

static int refused_calls_main(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct utsname system;
    int major = 0, minor = 0;
    if (uname(&system) != 0 || sscanf(system.release, "%d.%d", &major, &minor) != 2)
        return 3;
    const char *between = "[";
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if ((major > calls[i].major || (major == calls[i].major && minor >= calls[i].minor)) && is_refused(i)) {
            out("%s\"%s\"", between, calls[i].name);
            between = ", ";
        }
    out("%s]\n", *between == '[' ? between : "");
    out_flush();
    return 0;
}

VERB("refused-calls", "", refused_calls_main);
