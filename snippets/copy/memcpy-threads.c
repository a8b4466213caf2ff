/* A copy by two threads; build it with -pthread. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- */
struct part {
    char *to;
    const char *from;
    size_t bytes;
};

static void *copy_part(void *given)
{
    struct part *part = given;
    return memcpy(part->to, part->from, part->bytes);
}

/* A program that copies often keeps the second thread; one that is made for each copy costs more. */
static void copy(void *to, const void *from, size_t bytes)
{
    size_t half = bytes / 2 / 64 * 64;
    struct part second = {(char *)to + half, (const char *)from + half, bytes - half};
    pthread_t thread;
    int alone = pthread_create(&thread, NULL, copy_part, &second);
    memcpy(to, from, half);
    if (alone)
        copy_part(&second);
    else
        pthread_join(thread, NULL);
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
