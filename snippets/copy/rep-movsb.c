/* A copy by the processor's own instruction. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- */
static void copy(void *to, const void *from, size_t bytes)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
    memcpy(to, from, bytes);
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
