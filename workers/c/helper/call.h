/* A system call at which ptrace stopped a thread. */
#ifndef PAGEWISE_CALL_H
#define PAGEWISE_CALL_H
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { CALL_ENTRY = 1, CALL_EXIT = 2, CALL_SECCOMP = 3, GET_SYSCALL_INFO = 0x420e };

/* struct ptrace_syscall_info of linux/ptrace.h, which is not everywhere (ptrace(2)). */
struct call {
    uint8_t op, padding[3];
    uint32_t architecture;
    uint64_t instruction, stack;
    union {
        struct {
            uint64_t number, arguments[6];
        } entry;
        struct {
            int64_t value;
            uint8_t is_error;
        } exit;
    } of;
};

/* Fills in the call of a stopped thread; false where there is none. */
static inline int call_of(pid_t thread, struct call *call)
{
    return syscall(SYS_ptrace, GET_SYSCALL_INFO, thread, sizeof *call, call) > 0;
}
#endif
