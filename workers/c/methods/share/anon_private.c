#include "share.h"

#include <fcntl.h>

/* Pages that are there and that the kernel calls neither a file's nor shared (bit 61 of /proc/self/pagemap). */
static uint64_t private_pages(struct slot *s, const char *p, size_t bytes)
{
    uint64_t found = 0, entries[512];
    size_t page = s->page_bytes, pages = bytes / page;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(s, "open /proc/self/pagemap");
    for (size_t i = 0; i < pages; i += 512) {
        size_t now = pages - i < 512 ? pages - i : 512;
        if (pread(fd, entries, now * 8, (off_t)(((uintptr_t)p / page + i) * 8)) != (ssize_t)(now * 8))
            fail(s, "read /proc/self/pagemap");
        for (size_t k = 0; k < now; k++)
            found += entries[k] >> 62 && !(entries[k] >> 61 & 1);
    }
    close(fd);
    return found;
}

/* The baseline of sharing: the same memory, shared with nobody. */
static void run(struct slot *s)
{
    share_begin_alone(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    share_proof(s, p, "");
    share_touch(s, p);
    fact(s, "private_pages", private_pages(s, p, bytes));
    fact(s, "small_folios", small_folios_granted(s, false)); /* of one of them several pages come by one fault */
    share_write(s, p);
    share_check_clear_read(s, p);
    int left;
    PHASE(s, "unmap") { left = munmap(p, bytes); }
    check_done(s, left, "munmap");
}

METHOD(share_anon_private, .experiment = "share", .name = "anon-private", .role = "limit",
       .summary = "Anonymous private memory: what the same work costs where nothing is shared.",
       .phases = SHARE_FIRST_PHASES SHARE_LOOP_PHASES, .keys = SHARE_ALONE_KEYS, .memory = "bytes + bytes / 8",
       .laws = "private_pages == bytes / page_bytes; small_folios == 0: " SHARE_TOUCH_LAW "; first-touch.minor_faults >= 1; "
               SHARE_OTHER_LAWS,
       .calls = "map:mmap unmap:munmap", .run = run);
