#include "share.h"
#include <stdio.h>

static bool kernel_forbids(void)
{
    char text[128] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "re");
    bool forbids = !file || !fgets(text, sizeof text, file) || strstr(text, "[never]") || strstr(text, "[deny]");
    if (file)
        fclose(file);
    return forbids;
}

static const char *obstacle(struct slot *s)
{
    const char *size = share_check_huge(s);
    return !size && kernel_forbids() ? "shared memory gets no transparent huge pages here: "
                                       "echo advise | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled"
                                     : size;
}

static void run(struct slot *s)
{
    share_begin(s, obstacle(s));
    size_t bytes = s->bytes;
    unsigned flags = memfd_flags();
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = memfd_create("pagewise-share", flags);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
        if (p != MAP_FAILED)
            madvise(p, bytes, MADV_HUGEPAGE);
    }
    share_mapped(s, memfd_obstacle(fd));
    if (fd < 0)
        fail(s, "memfd_create");
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    tell_descriptor(fd);
    share_proof(s, p, "/memfd:pagewise-share");
    share_use(s, p, NULL);
    int left;
    PHASE(s, "unmap") {
        left = munmap(p, bytes);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
}

static void attach(struct seat *b)
{
    seat_map(b);
    if (b->p != MAP_FAILED)
        madvise(b->p, b->bytes, MADV_HUGEPAGE);
}

static void run_b(struct slot *s)
{
    struct seat b = share_begin_b(s, obstacle(s));
    b.descriptor = hear_descriptor(s);
    meet(s);
    PHASE(s, "attach") { attach(&b); }
    share_second(s, &b, attach, seat_unmap);
    close(b.descriptor);
}

METHOD(share_memfd_huge, .experiment = "share", .name = "memfd-huge",
       .summary = "A memory file with transparent huge pages permitted by MADV_HUGEPAGE: one fault per huge page.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY,
       .laws = "huge_bytes == bytes; b.huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap,madvise attach:mmap,madvise populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = run, .run_b = run_b);
