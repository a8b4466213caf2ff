#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { BYTES = 40 << 20 };
/* One block, written again and again; and one that shrinks and grows. */
int main(void)
{
    char *block = malloc(BYTES), *other = malloc(BYTES);
    for (int round = 0; round < 12; round++) {
        memset(block, round, BYTES);
        other = realloc(other, round % 2 ? BYTES : BYTES / 4);
        memset(other, round, round % 2 ? BYTES : BYTES / 4);
    }
    printf("%d\n", block[BYTES - 1] + other[0]);
}
