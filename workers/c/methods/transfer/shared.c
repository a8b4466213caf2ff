/* See shared.h. Never timed. */
#include "shared.h"
#include <sys/stat.h>

char *shared_open(struct slot *s, size_t bytes, int *descriptor)
{
    if (s->role == 'a')
        *descriptor = memfd_create(launch_name(), memfd_flags());
    agree(s, s->role == 'a' ? memfd_obstacle(*descriptor) : NULL);
    if (s->role == 'a') {
        if (*descriptor < 0)
            fail(s, "memfd_create");
        if (ftruncate(*descriptor, (off_t)bytes) != 0)
            fail(s, "ftruncate");
        tell_descriptor(*descriptor);
    } else {
        *descriptor = hear_descriptor(s);
    }
    char *p = mmap(free_range(s, bytes), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, *descriptor, 0);
    check_map(s, p);
    (void)madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}

uint64_t shared_memory_bytes(int descriptor)
{
    struct stat status;
    return fstat(descriptor, &status) == 0 ? (uint64_t)status.st_blocks * 512 : 0;
}
