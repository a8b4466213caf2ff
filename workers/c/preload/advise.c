/* Preloaded into somebody's program by `try --with thp`: its large private mappings without a file are advised to be of huge
 * pages. glibc's malloc maps without asking anybody by name, so this sees nothing of it; the tunable glibc.malloc.hugetlb=1
 * does the same there. No library is needed besides the program's own libc, whichever that is. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LARGE = 2 << 20 }; /* bytes: a huge page, of which there is none in less */

static void *map(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    long mapped = syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
    int others = MAP_ANONYMOUS | MAP_STACK | MAP_GROWSDOWN | MAP_HUGETLB;
    if (mapped != -1 && bytes >= LARGE && (flags & MAP_TYPE) == MAP_PRIVATE && (flags & others) == MAP_ANONYMOUS) {
        int error = errno;
        /* Refused where the kernel has no huge pages; the mapping is as good without. */
        syscall(SYS_madvise, mapped, bytes, MADV_HUGEPAGE);
        errno = error;
    }
    return (void *)mapped;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return map(at, bytes, protection, flags, fd, offset);
}

#ifndef mmap64 /* in musl it is another word for mmap */
void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    return map(at, bytes, protection, flags, fd, offset);
}
#endif
