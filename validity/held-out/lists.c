/* Linked lists of small nodes, made and freed in phases. */
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value[5]; };
int main(void)
{
    long sum = 0;
    for (int phase = 0; phase < 6; phase++) {
        struct node *first = NULL;
        for (int i = 0; i < 400000; i++) {
            struct node *n = malloc(sizeof *n);
            n->next = first;
            n->value[0] = i;
            first = n;
        }
        for (struct node *n = first, *next; n; n = next) {
            next = n->next;
            sum += n->value[0];
            free(n);
        }
    }
    printf("%ld\n", sum);
}
