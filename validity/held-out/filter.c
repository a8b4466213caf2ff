/* A picture that is filtered several times, each time into a cleared one. */
#include <stdio.h>
#include <stdlib.h>
enum { W = 1600, H = 1200 };
int main(void)
{
    float sum = 0;
    for (int round = 0; round < 12; round++) {
        float *from = malloc(sizeof(float) * W * H), *to = calloc(W * H, sizeof *to);
        for (int i = 0; i < W * H; i++)
            from[i] = (float)(i * 31 % 255);
        for (int i = W + 1; i < W * H - W - 1; i++)
            to[i] += from[i] + 0.25f * (from[i - 1] + from[i + 1] + from[i - W] + from[i + W]);
        sum += to[W * H / 2];
        free(from);
        free(to);
    }
    printf("%g\n", sum);
}
