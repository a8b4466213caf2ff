/* The parent of the `fork` methods and the program that its children become. Never timed. */
#include "fork.h"
#include <stdio.h>

static struct parent kept;
static bool kept_huge;

static void make(struct slot *s, bool huge)
{
    if (kept.p)
        munmap(kept.p, kept.bytes);
    kept = (struct parent){.bytes = s->bytes, .mark = (char)(s->seed | 1)};
    kept_huge = huge;
    char *p = mmap(free_range(s, s->bytes), s->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p);
    int advised = madvise(p, s->bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (huge)
        check_huge_advice(s, advised);
    kept.p = p;
    for (size_t i = 0; i < s->bytes; i += s->page_bytes)
        p[i] = kept.mark;
}

struct parent parent_begin(struct slot *s)
{
    bool huge = key_is(s, "pages", "huge");
    size_t whole = huge || key_is(s, "every", "huge") ? s->huge_page_bytes : s->page_bytes;
    if (!whole)
        skip(s, "no transparent huge pages: this kernel has none, or /sys does not say of which size they are");
    if (huge)
        need_huge_pages(s);
    if (s->bytes % whole != 0)
        skip(s, "bytes is not a multiple of the size of the pages");
    if (!kept.p || kept.bytes != s->bytes || kept_huge != huge ||
        (huge && resident_now(s, kept.p, kept.bytes).huge_bytes != kept.bytes))
        make(s, huge);
    fact(s, "huge_bytes", resident_in(s, kept.p, kept.bytes).huge_bytes);
    struct parent parent = kept;
    parent.stride = key_is(s, "every", "huge") ? s->huge_page_bytes : s->page_bytes;
    s->ops = 1;
    s->phase_bytes = s->bytes;
    return parent;
}

size_t wrong_pages(const struct slot *s, const struct parent *parent, char now)
{
    size_t wrong = 0;
    for (size_t i = 0; i < parent->bytes; i += s->page_bytes)
        wrong += parent->p[i] != (i % parent->stride == 0 ? now : parent->mark);
    return wrong;
}

void parent_end(struct slot *s, const struct parent *parent, char now)
{
    fact(s, "wrong_pages", wrong_pages(s, parent, now));
    /* All of it, always: pages that a fork has left write-protected would be the next slot's faults. */
    for (size_t i = 0; i < kept.bytes; i += s->page_bytes)
        kept.p[i] = now;
    kept.mark = now;
}

void check_child(struct slot *s, pid_t child, const char *call)
{
    if (child < 0)
        fail(s, call);
}

void exit_fact(struct slot *s, int status)
{
    fact(s, "exit_status", WIFEXITED(status) ? (uint64_t)WEXITSTATUS(status) : 256);
}

uint64_t page_table_bytes(struct slot *s)
{
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    if (!file)
        fail(s, "open /proc/self/status");
    while (fgets(line, sizeof line, file) && sscanf(line, "VmPTE: %lu kB", &kib) != 1)
        ;
    fclose(file);
    return (uint64_t)kib * 1024;
}
