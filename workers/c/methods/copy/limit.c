#include "copy.h"

/* Loads every byte and does nothing with it; written as instructions, so that both builds of the worker run the same loop.
 * `bytes` is a multiple of 128 here: a block's last page is there as a whole. */
#if defined(__x86_64__)
static inline void load_all(const char *from, size_t bytes)
{
    const char *end = from + bytes;
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("1: vmovdqa 0(%0), %%ymm0\n vmovdqa 32(%0), %%ymm1\n vmovdqa 64(%0), %%ymm2\n"
                         "vmovdqa 96(%0), %%ymm3\n sub $-128, %0\n cmp %1, %0\n jb 1b\n vzeroupper"
                         : "+r"(from) : "r"(end) : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");
    else
        __asm__ volatile("1: movdqa 0(%0), %%xmm0\n movdqa 16(%0), %%xmm1\n movdqa 32(%0), %%xmm2\n"
                         "movdqa 48(%0), %%xmm3\n add $64, %0\n cmp %1, %0\n jb 1b"
                         : "+r"(from) : "r"(end) : "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");
}
#else
static inline void load_all(const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t))
        (void)*(const volatile uint64_t *)(from + i);
}
#endif

static void run(struct slot *s)
{
    size_t bytes = s->bytes, at_least = key_size(s, "batch_bytes"), rounded = (bytes + 127) / 128 * 128;
    uint64_t batch = at_least > bytes ? (at_least + bytes - 1) / bytes : 1;
    char *from = block_filled(s, bytes);
    s->ops = s->phase_bytes = bytes * batch;
    fact(s, "batch", batch);
    PHASE(s, "copy") {
        for (uint64_t i = 0; i < batch; i++)
            load_all(from, rounded);
    }
    block_prove(s, from, bytes);
    block_free(s, from, bytes);
}

METHOD(copy_limit, .experiment = "copy", .name = "limit", .role = "limit",
       .summary = "Load every byte of the source and store none: no way that makes a copy can cost less than reading it.",
       .phases = "copy", .keys = "bytes:size batch_bytes:size", .memory = "bytes",
       .laws = "wrong_at == bytes; copy.minor_faults == 0", .calls = "", .run = run);
