/* See prefault.h. Timed are the phases pin, first-use and teardown only; `exit` is in exit.c. */
#include "prefault.h"
#include "core.h"
#include "pin.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_register 427
#endif
#define SHMEM_SETTING "/sys/kernel/mm/transparent_hugepage/shmem_enabled"
enum { REGISTER_BUFFERS = 0, UNREGISTER_BUFFERS = 1, RING_SETUP_BYTES = 120 };
#define GIANT_POOL "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"
#define MOST_OF_A_BUFFER (1ul << 30) /* io_uring_register(2): a buffer has at most 1 GiB */

static struct memory memory;
static int rings[MAX_PROCESSES]; /* one a thread; 0: none */
static atomic_uint next_ring;
static atomic_int first_error;
static uint64_t ring_bytes_before;

void prefault_note(bool refused)
{
    int none = 0;
    if (refused)
        atomic_compare_exchange_strong(&first_error, &none, errno ? errno : EIO);
}

/* A slot that ends early leaves nothing mapped, locked or registered to the next one. */
static void leave(void)
{
    slot_left = NULL;
    neighbor_leave();
    prefault_exit_leave();
    for (unsigned i = 0; i < MAX_PROCESSES && rings[i]; i++) {
        (void)syscall(SYS_io_uring_register, rings[i], UNREGISTER_BUFFERS, NULL, 0);
        close(rings[i]);
        rings[i] = 0;
    }
    munmap(memory.at, memory.bytes);
    if (memory.descriptor >= 0)
        close(memory.descriptor);
}

static void open_rings(struct slot *s)
{
    for (unsigned i = 0; i < s->threads; i++) {
        uint32_t parameters[RING_SETUP_BYTES / 4] = {0};
        long ring = syscall(SYS_io_uring_setup, 1, parameters);
        if (ring < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES))
            skip(s, refused("io_uring_setup", "a kernel without it, kernel.io_uring_disabled, or a container's seccomp filter"));
        if (ring < 0)
            fail(s, "io_uring_setup");
        rings[i] = (int)ring;
    }
}

static uint64_t status_bytes(struct slot *s, const char *row)
{
    char line[256];
    unsigned long kib = 0;
    size_t length = strlen(row);
    FILE *file = fopen("/proc/self/status", "re");
    if (!file)
        fail(s, "open /proc/self/status");
    while (fgets(line, sizeof line, file))
        if (strncmp(line, row, length) == 0 && sscanf(line + length, ": %lu kB", &kib) == 1)
            break;
    fclose(file);
    return (uint64_t)kib * 1024;
}

static void needs_shared_huge(struct slot *s)
{
    char text[128] = "";
    FILE *file = fopen(SHMEM_SETTING, "re");
    bool granted = file && fgets(text, sizeof text, file) && !strstr(text, "[never]") && !strstr(text, "[deny]");
    if (file)
        fclose(file);
    if (!granted)
        skip(s, "shared memory gets no transparent huge pages here: echo advise | sudo tee " SHMEM_SETTING);
}

static void room_in_shm(struct slot *s, int descriptor)
{
    struct statvfs room;
    check_done(s, fstatvfs(descriptor, &room), "fstatvfs");
    uint64_t left = (uint64_t)room.f_bavail * room.f_frsize;
    if (room.f_blocks && left < s->bytes)
        skip(s, arena_text("/dev/shm has room for %llu MiB and %zu MiB are asked for: docker run --shm-size=, or "
                           "mount -o remount,size= /dev/shm",
                           (unsigned long long)left >> 20, s->bytes >> 20));
}

static int open_shm(struct slot *s)
{
    const char *name = arena_text("/%s-prefault", launch_name());
    int descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0 && (errno == EACCES || errno == ENOENT || errno == EROFS))
        skip(s, refused("shm_open", "no /dev/shm that this user may write to"));
    if (descriptor < 0)
        fail(s, "shm_open");
    memory.descriptor = descriptor;
    if (shm_unlink(name) != 0)
        fail(s, "shm_unlink");
    room_in_shm(s, descriptor);
    return descriptor;
}

/* The default size is not named, so that it is the one of vm.nr_hugepages. */
static int pool_flags(const struct slot *s, size_t pool)
{
    return pool == s->huge_page_bytes ? 0 : POOL_OF(pool);
}

static int open_memfd(struct slot *s, size_t pool)
{
    unsigned flags = memfd_flags() | (pool ? MFD_HUGETLB | (unsigned)pool_flags(s, pool) : 0);
    int descriptor = memfd_create("pagewise-prefault", flags);
    const char *obstacle = memfd_obstacle(descriptor);
    if (descriptor < 0 && pool == GIANT_PAGE && (errno == ENODEV || errno == EINVAL))
        obstacle = NO_GIANT_PAGES;
    else if (descriptor < 0 && pool && (errno == ENODEV || errno == EINVAL))
        obstacle = "this kernel has no memory files of huge pages (CONFIG_HUGETLBFS)";
    if (obstacle)
        skip(s, obstacle);
    if (descriptor < 0)
        fail(s, "memfd_create");
    return descriptor;
}

static void open_shared(struct slot *s, size_t pool)
{
    if (key_is(s, "sharing", "shm"))
        memory.descriptor = open_shm(s);
    else if (key_is(s, "sharing", "memfd"))
        memory.descriptor = open_memfd(s, pool);
    if (memory.descriptor >= 0 && ftruncate(memory.descriptor, (off_t)s->bytes) != 0)
        fail(s, "ftruncate");
}

/* An address on a page of 1 GiB. */
static char *free_giant_range(struct slot *s)
{
    uintptr_t at = (uintptr_t)free_range(s, s->bytes + GIANT_PAGE);
    return (char *)((at + GIANT_PAGE - 1) / GIANT_PAGE * GIANT_PAGE);
}

struct memory prefault_prepare(struct slot *s, int advice, size_t pool)
{
    size_t huge = s->huge_page_bytes;
    if (s->bytes % s->page_bytes != 0)
        skip(s, "bytes is not a multiple of the page size");
    if (s->threads > 1 && s->bytes < s->threads * huge)
        skip(s, "less than one huge page per thread: several threads would race for the same fault");
    bool private = key_is(s, "sharing", "private");
    if (advice == MADV_HUGEPAGE) {
        fault_needs_huge(s, true);
        if (!private)
            needs_shared_huge(s);
    }
    memory = (struct memory){.descriptor = -1, .pool = pool};
    atomic_store(&first_error, 0);
    atomic_store(&next_ring, 0);
    slot_left = leave;
    pin_threads(s);
    /* A host takes and gives memory in blocks of a huge page's size, and so much of it is touched sooner in huge pages. */
    if (!pool)
        backing_before_in(s, s->bytes, huge != 0);
    neighbor_open(s);
    memory.at = pool == GIANT_PAGE ? free_giant_range(s) : free_range(s, s->bytes);
    memory.bytes = s->bytes;
    open_shared(s, pool);
    memory.flags = MAP_FIXED_NOREPLACE | (private ? MAP_PRIVATE : MAP_SHARED) | (memory.descriptor < 0 ? MAP_ANONYMOUS : 0) |
                   (pool && memory.descriptor < 0 ? MAP_HUGETLB | pool_flags(s, pool) : 0);
    if (key_is(s, "pinned", "ring"))
        open_rings(s);
    ring_bytes_before = status_bytes(s, "VmPin");
    s->ops = s->bytes;
    fact(s, "footprint_bytes", s->bytes);
    return memory;
}

struct memory prefault_begin(struct slot *s, int advice, size_t pool)
{
    struct memory m = prefault_prepare(s, advice, pool);
    neighbor_begin();
    return m;
}

void prefault_locked(struct slot *s, const char *call)
{
    struct rlimit limit;
    int error = atomic_load(&first_error);
    if ((error != EPERM && error != ENOMEM && error != EAGAIN) || getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return;
    skip(s, arena_text("%s: %s; %zu MiB are to be pinned and RLIMIT_MEMLOCK is %llu KiB: ulimit -l unlimited, in a systemd unit "
                       "LimitMEMLOCK=infinity, for a container --ulimit memlock=-1, or CAP_IPC_LOCK",
                       call, strerror(error), s->bytes >> 20, (unsigned long long)limit.rlim_cur >> 10));
}

const char *prefault_pool_lacks(size_t page, size_t pages)
{
    if (page == GIANT_PAGE)
        return arena_text("the pool of 1 GiB pages holds fewer than %zu free ones: echo %zu | sudo tee " GIANT_POOL ", early "
                          "after the boot, or hugepagesz=1G hugepages=%zu on the kernel's command line", pages, pages, pages);
    return arena_text("the pool holds fewer than %zu free huge pages: sudo sysctl vm.nr_hugepages=%zu", pages, pages);
}

void prefault_lacks(struct slot *s, int error, const char *reason)
{
    if (atomic_load(&first_error) == error)
        skip(s, reason);
}

void prefault_populated(struct slot *s, const char *p, const char *calls)
{
    if (p == MAP_FAILED && errno == ENOMEM && !(memory.flags & MAP_HUGETLB) &&
        number_in("/proc/sys/vm/overcommit_memory", 0) == 2)
        skip(s, "mmap: the kernel has promised all that it may, and overcommits nothing: sudo sysctl vm.overcommit_memory=0");
    check_map(s, p);
    errno = atomic_load(&first_error);
    check_done(s, errno, calls);
}

void prefault_advised(struct slot *s, int advised, int advice)
{
    if (advice == MADV_HUGEPAGE)
        check_huge_advice(s, advised);
    else
        check_done(s, advised != 0 && errno != EINVAL, "madvise"); /* EINVAL: a kernel without huge pages */
}

void clear_part(const struct part *part)
{
    memset(part->start, 0, part->bytes);
}

void populate_write_part(const struct part *part)
{
    prefault_note(part->bytes && madvise(part->start, part->bytes, MADV_POPULATE_WRITE) != 0);
}

void lock_part(const struct part *part)
{
    prefault_note(part->bytes && mlock(part->start, part->bytes) != 0);
}

int map_part_flags;
void map_part(const struct part *part)
{
    off_t offset = memory.descriptor < 0 ? 0 : (off_t)(part->start - memory.at);
    int flags = memory.flags | map_part_flags;
    prefault_note(part->bytes && mmap(part->start, part->bytes, PROT_READ | PROT_WRITE, flags, memory.descriptor, offset) ==
                                     MAP_FAILED);
}

/* Buffers of at most 1 GiB each, all of a part in one call. */
void register_part(const struct part *part)
{
    struct iovec buffers[1024];
    unsigned count = 0;
    for (size_t done = 0; done < part->bytes && count < 1024; count++) {
        size_t bytes = part->bytes - done < MOST_OF_A_BUFFER ? part->bytes - done : MOST_OF_A_BUFFER;
        buffers[count] = (struct iovec){part->start + done, bytes};
        done += bytes;
    }
    int ring = rings[atomic_fetch_add(&next_ring, 1)];
    prefault_note(count && syscall(SYS_io_uring_register, ring, REGISTER_BUFFERS, buffers, count) != 0);
}

void prefault_pin(struct slot *s, char *p)
{
    size_t bytes = s->bytes;
    bool lock = key_is(s, "pinned", "lock");
    if (key_is(s, "pinned", "no") || (lock && memory.pool)) {
        PHASE(s, "pin") { }
        return;
    }
    PARALLEL_PHASE(s, "pin") { on_every_thread(s, lock ? lock_part : register_part, p, bytes, 0); }
    const char *call = lock ? "mlock" : "io_uring_register";
    prefault_locked(s, call);
    errno = atomic_load(&first_error);
    check_done(s, errno, call);
}

static void proofs(struct slot *s, char *p)
{
    if (!s->proofs)
        return;
    unsigned char there[4096];
    uint64_t present = 0;
    for (size_t at = 0; at < s->bytes; at += sizeof there * s->page_bytes) {
        size_t left = s->bytes - at, pages = left / s->page_bytes < sizeof there ? left / s->page_bytes : sizeof there;
        check_done(s, mincore(p + at, pages * s->page_bytes, there), "mincore");
        for (size_t i = 0; i < pages; i++)
            present += there[i] & 1;
    }
    struct resident now = resident_in(s, p, s->bytes);
    fact(s, "present_bytes", present * s->page_bytes);
    fact(s, "rss_bytes", now.rss_bytes);
    fact(s, "huge_bytes", now.huge_bytes);
    fact(s, "locked_bytes", smaps_bytes(s, p, "Locked"));
    fact(s, "ring_bytes", status_bytes(s, "VmPin") - ring_bytes_before);
    fact(s, "small_folios", small_folios_granted(s, true));
}

/* Pages of which something is still mapped, of every huge page one, and the last. */
static uint64_t still_mapped(const struct slot *s, char *p)
{
    size_t step = s->huge_page_bytes ? s->huge_page_bytes : 512 * s->page_bytes;
    uint64_t mapped = 0;
    unsigned char there;
    for (size_t at = 0; at < s->bytes; at += step)
        mapped += mincore(p + at, s->page_bytes, &there) == 0;
    return mapped + (mincore(p + s->bytes - s->page_bytes, s->page_bytes, &there) == 0);
}

void prefault_rest(struct slot *s, char *p, bool reads)
{
    size_t bytes = s->bytes;
    char mark = page_mark(s);
    neighbor_close(s);
    proofs(s, p);
    pin_threads_facts(s);
    PARALLEL_PHASE(s, "first-use") { on_every_thread(s, reads ? read_pages : touch_pages, p, bytes, mark); }
    fact_digest(s, p, bytes);
    unsigned ring_count = key_is(s, "pinned", "ring") ? s->threads : 0;
    int left = 0;
    PHASE(s, "teardown") {
        for (unsigned i = 0; i < ring_count; i++)
            left |= (int)syscall(SYS_io_uring_register, rings[i], UNREGISTER_BUFFERS, NULL, 0);
        left |= munmap(p, bytes);
    }
    check_done(s, left, ring_count ? "io_uring_register, munmap" : "munmap");
    fact(s, "mapped_after", still_mapped(s, p));
    fact(s, "ring_bytes_after", status_bytes(s, "VmPin") - ring_bytes_before);
    prefault_exit(s, &memory);
    if (!memory.pool)
        backing_after(s, bytes);
    leave();
}
