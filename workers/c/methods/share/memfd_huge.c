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

static void run(struct slot *s)
{
    share_check_huge(s);
    if (kernel_forbids())
        skip(s, "shared memory gets no transparent huge pages here: "
                "echo advise | sudo tee /sys/kernel/mm/transparent_hugepage/shmem_enabled");
    share_begin(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = memfd_create("pagewise-share", MFD_CLOEXEC);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
        if (p != MAP_FAILED)
            madvise(p, bytes, MADV_HUGEPAGE);
    }
    if (fd < 0)
        fail(s, "memfd_create");
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    share_proof(s, p, "/memfd:pagewise-share");
    share_use(s, p);
    PHASE(s, "unmap") {
        munmap(p, bytes);
        close(fd);
    }
}

METHOD(share_memfd_huge, .experiment = "share", .name = "memfd-huge",
       .summary = "A memory file with transparent huge pages permitted by MADV_HUGEPAGE: one fault per huge page.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes", .laws = "huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap,madvise unmap:munmap,close", .run = run);
