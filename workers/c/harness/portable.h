/* Numbers of the kernel's interface that older headers lack: they are the same on every architecture that Linux adds them to
 * today. What an older kernel does not know it answers with EINVAL or ENOSYS, and the method is skipped.
 * One instruction that each architecture names in its own way. */
#ifndef PAGEWISE_PORTABLE_H
#define PAGEWISE_PORTABLE_H
#include <sys/mman.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#define LIBC_NAME "glibc"
#define LIBC_VERSION gnu_get_libc_version()
#else /* musl names itself by no macro and by no call */
#define LIBC_NAME "another C library than glibc"
#define LIBC_VERSION ""
#include <sys/syscall.h>
#include <unistd.h>
struct iovec;
static inline long portable_preadv2(int descriptor, const struct iovec *parts, int count, long offset, int flags)
{
    return syscall(SYS_preadv2, descriptor, parts, (long)count, offset, 0L, flags); /* 64-bit systems only */
}
#define preadv2(...) portable_preadv2(__VA_ARGS__)

static inline long portable_pwritev2(int descriptor, const struct iovec *parts, int count, long offset, int flags)
{
    return syscall(SYS_pwritev2, descriptor, parts, (long)count, offset, 0L, flags); /* 64-bit systems only */
}
#define pwritev2(...) portable_pwritev2(__VA_ARGS__)
#endif

#ifndef MAP_FIXED_NOREPLACE /* Linux 4.17 */
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MADV_FREE /* 4.5 */
#define MADV_FREE 8
#endif
#ifndef MADV_COLD /* 5.4 */
#define MADV_COLD 20
#endif
#ifndef MADV_PAGEOUT /* 5.4 */
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_READ /* 5.14 */
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE /* 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE /* 6.1 */
#define MADV_COLLAPSE 25
#endif
#ifndef MFD_HUGETLB /* 4.14 */
#define MFD_HUGETLB 4u
#endif
/* The pool of pages of this size, for mmap(2) and memfd_create(2); 0: of the default size. */
#define POOL_OF(page_bytes) ((page_bytes) ? __builtin_ctzl(page_bytes) << 26 : 0)
#ifndef MFD_NOEXEC_SEAL /* 6.3 */
#define MFD_NOEXEC_SEAL 8u
#endif

/* One turn of a waiting loop, for a sibling on the same core. */
static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
#endif
