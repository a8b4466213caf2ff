#include <stdio.h>
#include <stdlib.h>
enum { SIDE = 1600 };
/* A matrix is turned into a new one, and the old one is given back. */
int main(void)
{
    double *matrix = malloc(sizeof *matrix * SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        matrix[i] = i;
    for (int round = 0; round < 30; round++) {
        double *turned = malloc(sizeof *turned * SIDE * SIDE);
        for (int block = 0; block < SIDE; block += 16)
            for (int row = 0; row < SIDE; row++)
                for (int column = block; column < block + 16; column++)
                    turned[column * SIDE + row] = matrix[row * SIDE + column] + 1;
        free(matrix);
        matrix = turned;
    }
    printf("%g\n", matrix[SIDE + 1]);
}
