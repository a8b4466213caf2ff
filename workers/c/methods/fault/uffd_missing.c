#include "userfault.h"

static bool copy_in(const struct userfault *u, uint64_t address)
{
    struct uffdio_copy copy = {.dst = address, .src = (uintptr_t)u->source, .len = u->page};
    return ioctl(u->descriptor, UFFDIO_COPY, &copy) == 0;
}

static void run(struct slot *s, bool by_process)
{
    static _Alignas(65536) char zeros[65536];
    fault_begin(s);
    struct userfault here, *u = &here;
    if (by_process) { /* what both processes count in */
        u = mmap(NULL, s->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        check_map(s, u);
    }
    *u = (struct userfault){.answer = copy_in, .source = zeros, .by_process = by_process};
    userfault_open(s, u, 0, "Linux 4.3");
    u->p = kind_map(s, false);
    userfault_register(s, u, UFFDIO_REGISTER_MODE_MISSING);
    userfault_run(s, u);
    if (by_process)
        munmap(u, s->page_bytes);
}

static void by_thread(struct slot *s) { run(s, false); }
METHOD(fault_uffd_missing, .experiment = "fault", .name = "uffd-missing", .group = USERFAULTFD_GROUP,
       .summary = "Fresh memory whose pages another thread supplies by userfaultfd and UFFDIO_COPY, one a fault.",
       .phases = "map advise first-touch re-touch unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = NOTHING_BEFORE "; " USERFAULT_LAWS, .calls = "advise:madvise " USERFAULT_CALLS, .run = by_thread);

static void by_process(struct slot *s) { run(s, true); }
METHOD(fault_uffd_process, .experiment = "fault", .name = "uffd-process", .group = USERFAULTFD_GROUP,
       .summary = "Fresh memory whose pages another process supplies by userfaultfd and UFFDIO_COPY, one a fault, as a pager does.",
       .phases = "map advise first-touch re-touch unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = NOTHING_BEFORE "; " USERFAULT_LAWS, .calls = "advise:madvise " USERFAULT_CALLS, .run = by_process);
