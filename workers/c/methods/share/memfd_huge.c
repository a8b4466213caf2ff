#include "memfd.h"
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
    memfd_share(s, obstacle(s), true);
}

static void run_b(struct slot *s)
{
    memfd_attach(s, obstacle(s), true);
}

METHOD(share_memfd_huge, .experiment = "share", .name = "memfd-huge",
       .summary = "A memory file with transparent huge pages permitted by MADV_HUGEPAGE: one fault per huge page.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY,
       .laws = "huge_bytes == bytes; b.huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap,madvise attach:mmap,madvise populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = run, .run_b = run_b);
