#include "userfault.h"

#ifndef UFFD_FEATURE_PAGEFAULT_FLAG_WP
#define UFFD_FEATURE_PAGEFAULT_FLAG_WP (1 << 0)
#endif

static bool let_write(const struct userfault *u, uint64_t address)
{
    struct uffdio_writeprotect open = {.range = {address, u->page}};
    return ioctl(u->descriptor, UFFDIO_WRITEPROTECT, &open) == 0;
}

static void run(struct slot *s)
{
    fault_begin(s);
    struct userfault u = {.answer = let_write};
    userfault_open(s, &u, UFFD_FEATURE_PAGEFAULT_FLAG_WP, "Linux 5.7, not on every architecture");
    u.p = kind_map(s, false);
    touch_pages(&(struct part){u.p, s->bytes, s->page_bytes, page_mark(s)});
    userfault_register(s, &u, UFFDIO_REGISTER_MODE_WP);
    struct uffdio_writeprotect all = {.range = {(uintptr_t)u.p, s->bytes}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    int descriptor = u.descriptor, protected = 0;
    PHASE(s, "protect") { protected = ioctl(descriptor, UFFDIO_WRITEPROTECT, &all); }
    if (protected != 0)
        fail(s, "ioctl UFFDIO_WRITEPROTECT");
    userfault_run(s, &u);
}

METHOD(fault_uffd_wp, .experiment = "fault", .name = "uffd-wp", .group = USERFAULTFD_GROUP,
       .summary = "Resident memory that userfaultfd protects: another thread sees each first write and lets it pass.",
       .phases = "map advise protect first-touch re-touch unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = NOTHING_BEFORE "; protect.minor_faults == 0; " USERFAULT_LAWS,
       .calls = "advise:madvise protect:ioctl " USERFAULT_CALLS, .run = run);
