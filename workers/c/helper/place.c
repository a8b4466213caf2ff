/* What workers in other languages ask of places: which two CPUs `pin=` means, and where a CPU lies. */
#include "core.h"
#include "place.h"
#include "verb.h"
#include <stdio.h>
#include <stdlib.h>

static int choose_cpus_main(int argc, char **argv)
{
    static const char *const words[] = {"same", "l3", "node", "far"};
    cpu_set_t allowed;
    int chosen[2], word = 0;
    (void)argc;
    while (word < 4 && strcmp(argv[0], words[word]) != 0)
        word++;
    if (word == 4 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 2;
    const char *obstacle = choose_cpus(argv[0], &allowed, chosen);
    if (obstacle)
        printf("skip %s\n", obstacle);
    else
        printf("%d %d\n", chosen[0], chosen[1]);
    return 0;
}

static int place_of_main(int argc, char **argv)
{
    (void)argc;
    struct place place = place_of(atoi(argv[0]));
    printf("%d %d\n", place.l3, place.node);
    return 0;
}

VERB("choose-cpus", "PIN", choose_cpus_main);
VERB("place-of", "CPU", place_of_main);
