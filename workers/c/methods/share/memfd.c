#include "memfd.h"
#include <stdio.h>

METHOD(share_memfd, .experiment = "share", .name = "memfd",
       .summary = "A memory file without a name (memfd_create): its descriptor is passed to whom it is shared with.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY, .laws = SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap attach:mmap populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = memfd_run, .run_b = memfd_run_b);

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

static void huge(struct slot *s)
{
    memfd_share(s, obstacle(s), true);
}

static void huge_b(struct slot *s)
{
    memfd_attach(s, obstacle(s), true);
}
METHOD(share_memfd_huge, .experiment = "share", .name = "memfd-huge",
       .summary = "A memory file with transparent huge pages permitted by MADV_HUGEPAGE: one fault per huge page.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY,
       .laws = "huge_bytes == bytes; b.huge_bytes == bytes; " SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap,madvise attach:mmap,madvise populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = huge, .run_b = huge_b);
