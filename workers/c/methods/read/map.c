/* See map.h. Never timed. */
#include "map.h"
#include <stdio.h>

char *map_begin(struct slot *s, struct input *in)
{
    read_begin(s, in, WHOLE, 0);
    return free_range(s, in->bytes);
}

void map_check(struct slot *s, struct input *in, int descriptor, const void *mapped, int advised)
{
    /* The calls stand in one phase without a test between them, so errno is the last one's: the first that failed is made
     * again before it is named. */
    if (descriptor < 0) {
        (void)!open(in->path, O_RDONLY | O_CLOEXEC);
        fail(s, "open");
    }
    if (mapped == MAP_FAILED) {
        (void)!mmap(NULL, in->bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
        fail(s, "mmap");
    }
    if (advised != 0)
        fail(s, "madvise");
    in->resident_after_open = resident_bytes(s, in->descriptor, in->bytes);
}

/* What /proc/self/smaps says of the mapping that begins there: whether it is shared, and what was advised. Only where it is
 * asked: the walk fetches each folio's head into the caches, and an munmap behind it took half as long. */
static void fact_advice(struct slot *s, const void *mapped)
{
    if (!s->proofs)
        return;
    char line[512], shared = 0;
    unsigned long from;
    bool inside = false, sequential = false, random = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        fail(s, "open /proc/self/smaps");
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%*x %*c%*c%*c", &from) == 1 && strchr(line, '-'))
            inside = from == (uintptr_t)mapped;
        if (inside)
            (void)!sscanf(line, "%*x-%*x %*c%*c%*c%c", &shared);
        if (inside && strncmp(line, "VmFlags:", 8) == 0) {
            sequential = strstr(line, " sr");
            random = strstr(line, " rr");
        }
    }
    fclose(file);
    fact(s, "shared_mapping", shared == 's');
    fact(s, "sequential_advice", sequential);
    fact(s, "random_advice", random);
}

void map_proofs(struct slot *s, struct input *in, const void *mapped)
{
    size_t page = s->page_bytes;
    check_pass(s, in, "mmap");
    fact(s, "mapped_bytes", resident_in(s, mapped, (in->bytes + page - 1) / page * page).rss_bytes);
    fact(s, "resident_after_open_bytes", in->resident_after_open);
    fact_advice(s, mapped);
}
