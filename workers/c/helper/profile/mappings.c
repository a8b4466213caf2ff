/* Calls that change mappings. The kernel's records of page faults tell of new mappings only, and of merged ones as one; what a
 * program gives back, moves or trims is in the calls themselves. */
#include "mappings.h"
#include "helper/call.h"
#include "core.h"
#include "faults.h"
#include "touched.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
enum { MOST_THREADS = 4096 };

/* By thread: its process, and the call that it is in. */
static struct {
    pid_t thread, process;
    struct mapping_call call;
} threads[MOST_THREADS];

void mappings_filter(void)
{
#define STOP_AT(number, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, skipped, 0)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        STOP_AT(SYS_mmap, 5),
        STOP_AT(SYS_munmap, 4),
        STOP_AT(SYS_mremap, 3),
        STOP_AT(SYS_madvise, 2),
        STOP_AT(SYS_brk, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    /* Who may not do so with the rights of other programs' owners in reach does it without. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static pid_t process_of(pid_t thread)
{
    int at = thread % MOST_THREADS, process = thread;
    if (threads[at].thread == thread)
        return threads[at].process;
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Tgid: %d", &process) == 1)
            break;
    if (status)
        fclose(status);
    threads[at].thread = thread;
    return threads[at].process = process;
}

static void read_stack(pid_t thread, uint64_t stack, uint64_t words[CALLER_WORDS])
{
    struct iovec here = {words, CALLER_WORDS * sizeof *words}, there = {(void *)(uintptr_t)stack, here.iov_len};
    (void)process_vm_readv(thread, &here, 1, &there, 1, 0);
}

/* True if the call's result is needed: it is the address of what was mapped. */
static bool begin(pid_t thread, const struct call *call, struct mapping_call *c)
{
    const uint64_t *a = call->of.entry.arguments;
    *c = (struct mapping_call){.start = a[0], .bytes = a[1], .instruction = call->instruction};
    switch ((long)call->of.entry.number) {
    case SYS_mmap:
        if (!(a[3] & MAP_ANONYMOUS) || (a[3] & MAP_TYPE) != MAP_PRIVATE)
            return false; /* the kernel's own records have all of it */
        c->kind = CALL_MAP;
        c->is_stack = a[3] & (MAP_STACK | MAP_GROWSDOWN);
        read_stack(thread, call->stack, c->stack);
        return true;
    case SYS_mremap:
        c->kind = CALL_REMAP;
        c->to_bytes = a[2];
        return true;
    case SYS_munmap: c->kind = CALL_UNMAP; break;
    case SYS_brk:
        c->kind = CALL_BREAK;
        c->bytes = 0;
        break;
    case SYS_madvise:
        c->kind = CALL_ADVISE;
        c->advice = (int)a[2];
        break;
    default: return false;
    }
    faults_call(process_of(thread), c); /* before it is done: other threads cannot touch it anew before */
    return false;
}

int mappings_stopped(pid_t thread, bool at_exit)
{
    struct call call;
    if (!call_of(thread, &call))
        return PTRACE_CONT;
    pid_t process = process_of(thread);
    struct mapping_call *c = &threads[thread % MOST_THREADS].call;
    if (!at_exit)
        return call.op == CALL_SECCOMP && begin(thread, &call, c) ? PTRACE_SYSCALL : PTRACE_CONT;
    if (call.op == CALL_EXIT && !call.of.exit.is_error) {
        c->to = (uint64_t)call.of.exit.value;
        faults_call(process, c);
    }
    return PTRACE_CONT;
}
