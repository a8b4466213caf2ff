#include "copy.h"
#include <sys/uio.h>

/* One call moves at most 2 GiB less a page. Returns how many bytes came before an error. */
static inline size_t read_self(pid_t self, char *to, char *from, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        struct iovec into = {to + done, bytes - done}, of = {from + done, bytes - done};
        ssize_t got = process_vm_readv(self, &into, 1, &of, 1, 0);
        if (got <= 0 && errno != EINTR)
            break;
        done += got > 0 ? (size_t)got : 0;
    }
    return done;
}

static void run(struct slot *s)
{
    char byte = 1, copied = 0;
    pid_t self = getpid();
    if (read_self(self, &copied, &byte, 1) != 1 && (errno == EPERM || errno == ENOSYS))
        skip(s, "process_vm_readv() is not there or not permitted (a container's seccomp filter, or CONFIG_CROSS_MEMORY_ATTACH)");
    struct copy c = copy_begin(s);
    char *from = c.from, *to = c.to;
    size_t bytes = s->bytes, stride = c.stride, done = bytes;
    uint64_t batch = c.batch;
    COPY_BEFORE(done = done == bytes ? read_self(self, to + i * stride, from, bytes) : done)
    PHASE(s, "copy") {
        EACH_COPY(done = done == bytes ? read_self(self, to + i * stride, from, bytes) : done)
        c.wrong = wrong;
    }
    if (done != bytes)
        fail_because(s, "process_vm_readv", came_so_far(strerror(errno), done, bytes));
    copy_end(s, &c);
}

METHOD(copy_process_vm_self, .experiment = "copy", .name = "process-vm-self",
       .summary = "process_vm_readv of the process's own memory: the kernel's copy, without a pipe.",
       .phases = "copy", .keys = COPY_KEYS, .memory = COPY_MEMORY, .laws = COPY_LAWS, .calls = "copy:process_vm_readv",
       .run = run);
