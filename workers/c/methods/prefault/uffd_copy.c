#include "prefault.h"
#include "methods/fault/userfault.h"

#ifndef UFFD_FEATURE_MISSING_SHMEM
#define UFFD_FEATURE_MISSING_SHMEM (1 << 5)
#endif

/* What copy_part() has to know. */
static size_t chunk;
static int descriptor;
static const char *source; /* a chunk of zeros, resident */

static void copy_part(const struct part *part)
{
    size_t step = chunk;
    for (size_t at = 0; at < part->bytes;) {
        size_t left = part->bytes - at, want = left < step ? left : step;
        struct uffdio_copy copy = {.dst = (uintptr_t)part->start + at, .src = (uintptr_t)source, .len = want};
        bool refused = ioctl(descriptor, UFFDIO_COPY, &copy) != 0;
        if (refused && (errno != EAGAIN || copy.copy <= 0)) {
            prefault_note(true);
            return;
        }
        at += refused ? (size_t)copy.copy : want;
    }
}

static void run(struct slot *s)
{
    size_t bytes = s->bytes, there;
    chunk = key_size(s, "chunk");
    if (chunk % s->page_bytes != 0)
        skip(s, "chunk is not a multiple of the page size");
    /* Before a free range is looked for, in which it could come to lie. */
    char *zeros = mmap(NULL, chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0), *p;
    check_map(s, zeros);
    source = zeros;
    struct memory m = prefault_prepare(s, MADV_NOHUGEPAGE, 0);
    struct userfault u = {0};
    userfault_open(s, &u, UFFD_FEATURE_MISSING_SHMEM, "Linux 4.11");
    descriptor = u.descriptor;
    struct uffdio_register range = {.range = {(uintptr_t)m.at, bytes}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    int advised = 0, registered = 0;
    neighbor_begin();
    PARALLEL_PHASE(s, "populate") {
        p = mmap(m.at, bytes, PROT_READ | PROT_WRITE, m.flags, m.descriptor, 0);
        there = p == MAP_FAILED ? 0 : bytes;
        advised = there ? madvise(p, bytes, MADV_NOHUGEPAGE) : 0;
        registered = there ? ioctl(descriptor, UFFDIO_REGISTER, &range) : 0;
        on_every_thread(s, copy_part, p, there, 0);
    }
    check_done(s, p != MAP_FAILED && registered != 0, "ioctl UFFDIO_REGISTER");
    prefault_populated(s, p, "ioctl UFFDIO_COPY");
    prefault_advised(s, advised, MADV_NOHUGEPAGE);
    munmap(zeros, chunk);
    close(descriptor);
    prefault_pin(s, p);
    prefault_rest(s, p, false);
}

METHOD(prefault_uffd_copy, .experiment = "prefault", .name = "uffd-copy",
       .summary = "Map, register with userfaultfd, then UFFDIO_COPY a chunk at a time before anybody touches it, as a VMM does.",
       .phases = PREFAULT_PHASES, .keys = PREFAULT_KEYS(EVERY_SHARING, EVERY_PIN) " chunk:size",
       .memory = PREFAULT_MEMORY " + chunk",
       .laws = "populate.minor_faults == 0; " BASE_ONLY_LAWS "; " NO_FAULT_TO_PIN "; " PREFAULT_LAWS,
       .calls = "populate:mmap,madvise,ioctl" TEARDOWN_CALLS, .run = run);
