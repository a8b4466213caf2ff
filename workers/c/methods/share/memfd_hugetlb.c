#include "share.h"

static void run(struct slot *s)
{
    share_begin(s, share_check_huge(s));
    size_t bytes = s->bytes;
    unsigned flags = memfd_flags() | MFD_HUGETLB;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = memfd_create("pagewise-share", flags);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    }
    const char *obstacle = memfd_obstacle(fd);
    if (fd < 0 && (errno == ENODEV || errno == EINVAL))
        obstacle = "this kernel has no hugetlb memory files (CONFIG_HUGETLBFS)";
    if (sized == 0 && p == MAP_FAILED && errno == ENOMEM)
        obstacle = share_empty_pool(s);
    share_mapped(s, obstacle);
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

static void run_b(struct slot *s)
{
    struct seat b = share_begin_b(s, share_check_huge(s));
    b.descriptor = hear_descriptor(s);
    meet(s);
    share_second(s, &b, seat_map, seat_unmap);
    close(b.descriptor);
}

METHOD(share_memfd_hugetlb, .experiment = "share", .name = "memfd-hugetlb",
       .summary = "A memory file from the reserved pool of huge pages (MFD_HUGETLB).",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY, .needs = "huge-pages",
       .laws = "huge_bytes == bytes; b.huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap attach:mmap populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = run, .run_b = run_b);
