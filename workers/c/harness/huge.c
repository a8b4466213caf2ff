/* Transparent huge pages as the kernel's settings say them (Documentation/admin-guide/mm/transhuge.rst). Never timed. */
#include "core.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>

static const char folder[] = "/sys/kernel/mm/transparent_hugepage";

enum setting { NEVER, MADVISE, ALWAYS, INHERIT };

static bool read_setting(const char *path, enum setting *into)
{
    char text[128] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool known = read(fd, text, sizeof text - 1) > 0;
    close(fd);
    *into = strstr(text, "[always]")    ? ALWAYS
            : strstr(text, "[madvise]") ? MADVISE
            : strstr(text, "[inherit]") ? INHERIT
                                        : NEVER;
    return known;
}

static bool grants(enum setting setting, bool advised)
{
    return setting == ALWAYS || (setting == MADVISE && advised);
}

/* Whether the settings let a fault give a folio of `bytes` at once. Before Linux 6.8 there was one setting for one size. */
static bool granted(size_t bytes, size_t huge, bool advised)
{
    char path[128];
    enum setting whole = NEVER, own = INHERIT;
    snprintf(path, sizeof path, "%s/enabled", folder);
    read_setting(path, &whole);
    snprintf(path, sizeof path, "%s/hugepages-%zukB/enabled", folder, bytes / 1024);
    if (!read_setting(path, &own) && bytes != huge)
        return false;
    return grants(own == INHERIT ? whole : own, advised);
}

void check_huge_advice(struct slot *s, int advised)
{
    if (advised != 0 && errno != EINVAL)
        fail(s, "madvise");
    if (advised != 0)
        skip(s, "this kernel has no transparent huge pages (madvise(MADV_HUGEPAGE) was refused)");
}

bool folio_granted(const struct slot *s, size_t bytes, bool advised)
{
    return s->huge_page_bytes && granted(bytes, s->huge_page_bytes, advised);
}

bool huge_pages_granted(const struct slot *s, bool advised)
{
    return s->huge_page_bytes && granted(s->huge_page_bytes, s->huge_page_bytes, advised);
}

void need_huge_pages(struct slot *s)
{
    if (!s->huge_page_bytes)
        skip(s, "no transparent huge pages: this kernel has none, or /sys does not say of which size they are");
    if (!huge_pages_granted(s, true))
        skip(s, "transparent huge pages are switched off: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

/* The sizes above a base page and below a huge page, as a sum of their bytes: each is a power of two. */
static size_t small_folios(const struct slot *s, bool advised)
{
    size_t sizes = 0;
    for (size_t size = 2 * s->page_bytes; size < s->huge_page_bytes; size *= 2)
        sizes |= granted(size, s->huge_page_bytes, advised) ? size : 0;
    return sizes;
}

bool small_folios_granted(const struct slot *s, bool advised)
{
    return small_folios(s, advised) != 0;
}

/* The kernel gives the largest granted folio that begins at the fault, is aligned and ends within the mapping. */
uint64_t expected_faults(const struct slot *s, const void *start, size_t bytes, bool advised)
{
    size_t sizes = small_folios(s, advised) | (huge_pages_granted(s, advised) ? s->huge_page_bytes : 0);
    uintptr_t at = (uintptr_t)start, end = at + bytes;
    uint64_t faults = 0;
    for (; at < end; faults++) {
        size_t size = s->huge_page_bytes > s->page_bytes ? s->huge_page_bytes : s->page_bytes;
        while (size > s->page_bytes && (!(sizes & size) || at % size || size > end - at))
            size /= 2;
        at += size;
    }
    return faults;
}

static bool are_forbidden;

void forbid_huge_pages(struct slot *s, bool forbidden)
{
    if (prctl(PR_SET_THP_DISABLE, forbidden, 0, 0, 0) != 0)
        fail(s, "prctl");
    are_forbidden = forbidden;
}

void huge_pages_after(void)
{
    if (are_forbidden)
        prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    are_forbidden = false;
}
