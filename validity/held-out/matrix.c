/* Matrices from calloc, multiplied by blocks and freed. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 700 };
int main(void)
{
    double sum = 0;
    for (int round = 0; round < 5; round++) {
        double *a = calloc(N * N, sizeof *a), *b = calloc(N * N, sizeof *b), *c = calloc(N * N, sizeof *c);
        for (int i = 0; i < N * N; i++)
            a[i] = i % 7, b[i] = i % 11;
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 60; k++)
                for (int j = 0; j < N; j++)
                    c[i * N + j] += a[i * N + k] * b[k * N + j];
        sum += c[N * N / 2];
        free(a);
        free(b);
        free(c);
    }
    printf("%g\n", sum);
}
