/* Copying past the caches: stores that do not read the lines that they overwrite. Written as instructions, so that both
 * builds of the worker run the same loop. */
#ifndef PAGEWISE_STREAMING_H
#define PAGEWISE_STREAMING_H
#include "worker.h"

enum { STREAM_STEP_BYTES = 128 };

#if defined(__x86_64__)
static inline bool can_stream(void)
{
    return __builtin_cpu_supports("avx");
}

/* The stores must be aligned to their size; what lies before the first and after the last whole step is copied by memcpy. */
static inline void stream_copy(char *to, const char *from, size_t bytes)
{
    size_t before = -(uintptr_t)to % 32;
    before = before < bytes ? before : bytes;
    memcpy(to, from, before);
    to += before;
    from += before;
    bytes -= before;
    char *end = can_stream() ? to + bytes / STREAM_STEP_BYTES * STREAM_STEP_BYTES : to;
    size_t rest = bytes - (size_t)(end - to);
    if (to < end)
        __asm__ volatile("1: vmovdqu 0(%1), %%ymm0\n vmovdqu 32(%1), %%ymm1\n"
                         "vmovdqu 64(%1), %%ymm2\n vmovdqu 96(%1), %%ymm3\n"
                         "vmovntdq %%ymm0, 0(%0)\n vmovntdq %%ymm1, 32(%0)\n"
                         "vmovntdq %%ymm2, 64(%0)\n vmovntdq %%ymm3, 96(%0)\n"
                         "sub $-128, %1\n sub $-128, %0\n cmp %2, %0\n jb 1b\n sfence\n vzeroupper"
                         : "+r"(to), "+r"(from) : "r"(end) : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");
    memcpy(to, from, rest);
}
#elif defined(__aarch64__)
static inline bool can_stream(void)
{
    return true;
}

static inline void stream_copy(char *to, const char *from, size_t bytes)
{
    char *end = to + bytes / STREAM_STEP_BYTES * STREAM_STEP_BYTES;
    size_t rest = bytes % STREAM_STEP_BYTES;
    if (to < end)
        __asm__ volatile("1: ldp q0, q1, [%1]\n ldp q2, q3, [%1, #32]\n ldp q4, q5, [%1, #64]\n ldp q6, q7, [%1, #96]\n"
                         "stnp q0, q1, [%0]\n stnp q2, q3, [%0, #32]\n stnp q4, q5, [%0, #64]\n stnp q6, q7, [%0, #96]\n"
                         "add %1, %1, #128\n add %0, %0, #128\n cmp %0, %2\n b.lo 1b\n dmb ishst"
                         : "+r"(to), "+r"(from) : "r"(end)
                         : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "cc", "memory");
    memcpy(to, from, rest);
}
#else
static inline bool can_stream(void)
{
    return false;
}

static inline void stream_copy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif
#endif
