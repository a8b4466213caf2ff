#include "share.h"

static void run(struct slot *s)
{
    share_check_huge(s);
    share_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = memfd_create("pagewise-share", MFD_CLOEXEC | MFD_HUGETLB);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    }
    if (fd < 0 && (errno == ENODEV || errno == EINVAL))
        skip(s, "this kernel has no hugetlb memory files (CONFIG_HUGETLBFS)");
    if (fd < 0)
        fail(s, "memfd_create");
    if (sized != 0)
        fail(s, "ftruncate");
    if (p == MAP_FAILED && errno == ENOMEM)
        share_skip_pool(s);
    check_map(s, p);
    share_proof(s, p, "/memfd:pagewise-share");
    share_use(s, p);
    PHASE(s, "unmap") {
        munmap(p, bytes);
        close(fd);
    }
}

METHOD(share_memfd_hugetlb, .experiment = "share", .name = "memfd-hugetlb",
       .summary = "A memory file from the reserved pool of huge pages (MFD_HUGETLB).",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes", .needs = "huge-pages",
       .laws = "huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap unmap:munmap,close", .run = run);
