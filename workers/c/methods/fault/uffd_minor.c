#include "userfault.h"

#ifndef UFFD_FEATURE_MINOR_SHMEM /* Linux 5.13, 5.14 for shared memory */
#define UFFD_FEATURE_MINOR_SHMEM (1 << 10)
#define UFFDIO_REGISTER_MODE_MINOR ((uint64_t)1 << 2)
#define UFFDIO_CONTINUE _IOWR(UFFDIO, 0x07, struct uffdio_continue)
struct uffdio_continue {
    struct uffdio_range range;
    uint64_t mode;
    int64_t mapped;
};
#endif

static bool go_on(const struct userfault *u, uint64_t address)
{
    struct uffdio_continue there = {.range = {address, u->page}};
    return ioctl(u->descriptor, UFFDIO_CONTINUE, &there) == 0;
}

static void run(struct slot *s)
{
    fault_begin(s);
    struct userfault u = {.answer = go_on};
    userfault_open(s, &u, UFFD_FEATURE_MINOR_SHMEM, "Linux 5.14");
    struct kind_file file = kind_file(s, false);
    map_file(s, &file, PROT_READ | PROT_WRITE);
    u.p = file.p;
    userfault_register(s, &u, UFFDIO_REGISTER_MODE_MINOR);
    userfault_run(s, &u);
    close(file.descriptor);
}

METHOD(fault_uffd_minor, .experiment = "fault", .name = "uffd-minor", .group = USERFAULTFD_GROUP,
       .summary = "A mapping of shared memory that is there: another thread lets each page in by UFFDIO_CONTINUE, copying nothing.",
       .phases = "map first-touch re-touch unmap", .keys = "bytes:size", .memory = "bytes",
       .laws = "before.rss_bytes == 0; " USERFAULT_LAWS, .calls = USERFAULT_CALLS, .run = run);
