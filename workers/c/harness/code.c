/* Brings the worker's own code in before anything is measured: a page of code that is first used within a phase would be a
 * fault of that phase. */
#include "core.h"
#include <link.h>

/* Private, written pages stay as they are: only what the first use would map is read. */
static int touch_object(struct dl_phdr_info *object, size_t size, void *page)
{
    (void)size;
    size_t step = *(const size_t *)page;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_R))
            continue;
        const volatile char *start = (const volatile char *)(object->dlpi_addr + part->p_vaddr);
        for (size_t at = 0; at < part->p_memsz; at += step)
            (void)start[at];
    }
    return 0;
}

/* So would the first call that reaches a page of the stack: one in eleven processes had a fault of heap/limit by that. */
__attribute__((noinline)) static void stack_touch(size_t page)
{
    volatile char deep[64 << 10];
    for (size_t at = 0; at < sizeof deep; at += page)
        deep[at] = 0;
}

void code_touch(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    stack_touch(page);
    dl_iterate_phdr(touch_object, &page);
}
