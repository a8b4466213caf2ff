/* A copy past the caches. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* --- */
/* Both addresses and the size are multiples of 64. */
static void copy(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += 16) {
        __m128i word = _mm_load_si128((const __m128i *)((const char *)from + i));
        _mm_stream_si128((__m128i *)((char *)to + i), word);
    }
    _mm_sfence(); /* before anybody is told that the copy is there */
#else
    memcpy(to, from, bytes); /* what is streaming is the processor's matter; look at pagewise show copy/streaming */
#endif
}
/* --- */

int main(int argc, char **argv)
{
    size_t bytes = argc == 2 ? strtoull(argv[1], NULL, 10) / 64 * 64 : 0;
    unsigned char *from = aligned_alloc(64, bytes + 64), *to = aligned_alloc(64, bytes + 64);
    if (bytes == 0 || from == NULL || to == NULL)
        return 1;
    for (size_t i = 0; i < bytes; i++)
        from[i] = (unsigned char)(i * 7 + i / 251);
    copy(to, from, bytes);
    printf("%zu\n", bytes);
    return memcmp(to, from, bytes) != 0;
}
