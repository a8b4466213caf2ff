/* States of free memory: whole, in pieces, or full of cached files. */
#include "state.h"
#include <fcntl.h>
#include <linux/mman.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- nothing of its own: settings and control groups make the state ---- */

static void make_nothing(int argc, char **argv)
{
    (void)argc;
    (void)argv;
}

MAKER(nothing, .make = make_nothing);

/* ---- a number of the kernel's, by a name: a setting makes the state, and its file proves it ---- */

static const char *number_name, *number_path;

static void make_number(int argc, char **argv)
{
    if (argc < 2)
        state_lacks("no name and file of a number");
    number_name = argv[0];
    number_path = argv[1];
}

static void facts_of_number(void)
{
    state_fact(number_name, kernel_number(number_path));
}
MAKER(number, .make = make_number, .facts = facts_of_number);

/* ---- lists of free pages ---- */

/* The sum of a number that each zone, or each CPU of a zone, has in /proc/zoneinfo. */
static uint64_t of_zones(const char *format)
{
    uint64_t sum = 0;
    FILE *zones = fopen("/proc/zoneinfo", "re");
    char line[256];
    unsigned long long number;
    while (zones && fgets(line, sizeof line, zones))
        sum += sscanf(line, format, &number) == 1 ? number : 0;
    if (zones)
        fclose(zones);
    return sum;
}

/* Pages that were freed wait in lists of their CPU, 60,000 of a zone and more, until that zone is used again, and each keeps
 * its block broken. Where the lists are to be short, each refresh of the counters gives some 2,000 of each back, until four
 * batches are left (decay_pcp_high() in mm/page_alloc.c). */
void drain_page_lists(void)
{
    static const char lists[] = "/proc/sys/vm/percpu_pagelist_high_fraction";
    enum { SHORT = 100000000, LEFT = 512 };
    char old[32], shortest[32];
    uint64_t set = kernel_number(lists), left = LEFT * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    /* Another state that is just being undone had it set so, and puts 0 back, the kernel's own. */
    snprintf(old, sizeof old, "%llu", set == SHORT ? 0ull : (unsigned long long)set);
    snprintf(shortest, sizeof shortest, "%d", SHORT);
    kernel_write(lists, shortest);
    for (int i = 0; i < 100 && of_zones(" count: %llu") > left; i++)
        kernel_number("/proc/sys/vm/stat_refresh");
    kernel_write(lists, old);
}

/* ---- as after a start ---- */

/* Numbers of Linux 5.2 that older headers lack, the same on every architecture. */
enum { FSOPEN = 430, FSCONFIG = 431, FSMOUNT = 432, SET_STRING = 1, CREATE = 6 };

static int small_tmpfs(size_t bytes)
{
    char size[32];
    snprintf(size, sizeof size, "%zu", bytes);
    int context = (int)syscall(FSOPEN, "tmpfs", 1), mount = -1;
    if (context >= 0 && syscall(FSCONFIG, context, SET_STRING, "huge", "always", 0) == 0 &&
        syscall(FSCONFIG, context, SET_STRING, "size", size, 0) == 0 &&
        syscall(FSCONFIG, context, SET_STRING, "nr_inodes", "0", 0) == 0 &&
        syscall(FSCONFIG, context, CREATE, NULL, NULL, 0) == 0)
        mount = (int)syscall(FSMOUNT, context, 1, 0);
    if (mount < 0)
        state_lacks("a tmpfs of huge pages cannot be had: %s; run as root", strerror(errno));
    close(context);
    return mount;
}

/* A file in memory that is mounted nowhere and ends when it is closed; fallocate(2) takes its pages untouched. */
static int held_untouched(uint64_t bytes)
{
    int folder = small_tmpfs(bytes + huge_block_bytes()), file = openat(folder, "held", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || fallocate(file, 0, 0, (off_t)bytes) != 0)
        state_lacks("memory cannot be held: %s", strerror(errno));
    close(folder);
    return file;
}

/* A huge page of this process, which the kernel makes where there is none; NULL if it does not. */
static char *asked_block(void)
{
    size_t block = huge_block_bytes();
    char *at = mmap(NULL, 2 * block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    char *start = at + (block - (uintptr_t)at % block) % block, *end = at + 2 * block;
    if (start > at)
        munmap(at, (size_t)(start - at));
    uint64_t before = kernel_field("/proc/vmstat", "thp_fault_alloc");
    madvise(start, block, MADV_HUGEPAGE);
    *(volatile char *)start = 1;
    bool is_huge = kernel_field("/proc/vmstat", "thp_fault_alloc") > before;
    char *rest = start + (is_huge ? block : 0);
    if (end > rest)
        munmap(rest, (size_t)(end - rest));
    return is_huge ? start : NULL;
}

/* Compaction of all memory ends where it meets a large folio for which no piece is left, and begins at the same place again. So
 * blocks that it leaves broken are asked for, as a program asks for huge pages, while all whole ones are held. Each one that is
 * had empties the lists of the CPU on which it is asked for, too. A kernel that found nothing looks again only after it was
 * asked up to 64 times (COMPACT_MAX_DEFER_SHIFT). */
enum { MISSES = 66, WHOLE_PERMILLE = 960 };
static const uint64_t LONGEST_FRESH_NS = 8000000000, LONGEST_HEAL_NS = 4000000000;

static void ask_for(uint64_t count, uint64_t until_ns)
{
    char *first = NULL, *block;
    for (int missed = 0; count > 0 && missed < MISSES && now_ns() < until_ns; missed = block ? 0 : missed + 1)
        if ((block = asked_block())) {
            *(char **)block = first;
            first = block;
            count--;
        }
    while ((block = first)) {
        first = *(char **)block;
        munmap(block, huge_block_bytes());
    }
}

static void make_whole(uint64_t permille, uint64_t longest_ns)
{
    uint64_t until_ns = now_ns() + longest_ns;
    if (!kernel_write("/proc/sys/vm/drop_caches", "3") || !kernel_write("/proc/sys/vm/compact_memory", "1"))
        state_lacks("memory cannot be compacted: %s; run as root", strerror(errno));
    drain_page_lists();
    uint64_t whole = free_permille_in_huge_blocks(), free = kernel_field("/proc/meminfo", "MemFree") * 1024 / 1000;
    if (whole >= permille)
        return;
    int held = held_untouched(whole * free);
    ask_for((permille - whole) * free / huge_block_bytes() + 1, until_ns);
    close(held);
    drain_page_lists();
}

static void renew_fresh(void)
{
    sync();
    make_whole(WHOLE_PERMILLE, LONGEST_FRESH_NS);
}

static void make_fresh(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    renew_fresh();
}

MAKER(fresh, .make = make_fresh, .prepare = renew_fresh);

/* ---- in pieces: a page of every free block of a huge page stays in use ---- */

/* A block is the huge page of a file of 4 KiB in a tmpfs that is mounted nowhere. fallocate(2) takes it untouched: on a
 * virtual machine whose host takes free memory back, touching all memory would take a minute. The file system is small. When it
 * is full the kernel splits the huge pages that reach beyond the end of their file, and frees all but the first page. So memory
 * in use grows by a page a block, and the machine never runs short. */
static struct {
    int folder;
    size_t block, files, most;
    bool pinned;
    uint64_t whole, permille_before;
} pieces;

enum { ROOM_BLOCKS = 32 };

static int piece(size_t number, int flags)
{
    char name[32];
    snprintf(name, sizeof name, "%zu", number);
    int file = openat(pieces.folder, name, flags | O_CLOEXEC, 0600);
    if (file < 0)
        state_lacks("openat: %s", strerror(errno));
    return file;
}

/* Takes a block, or a base page where there is none; whether it was a block. */
static bool take_block(void)
{
    struct stat about;
    int file = piece(pieces.files++, O_RDWR | O_CREAT);
    if (fallocate(file, 0, 0, sysconf(_SC_PAGESIZE)) != 0 || fstat(file, &about) != 0)
        state_lacks("fallocate: %s", strerror(errno));
    close(file);
    bool whole = (size_t)about.st_blocks * 512 >= pieces.block;
    pieces.whole += whole;
    return whole;
}

/* Compaction may not move a page that is locked (vm.compact_unevictable_allowed=0). */
static void lock_pieces(size_t from)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t number = from; number < pieces.files; number++) {
        int file = piece(number, O_RDWR);
        if (mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_LOCKED | MAP_POPULATE, file, 0) == MAP_FAILED)
            state_lacks("a page cannot be locked: %s", strerror(errno));
        close(file);
    }
}

/* Takes blocks until the kernel has had none so many times in a row. */
static void break_blocks(int misses)
{
    size_t before = pieces.files;
    for (int missed = 0; missed < misses && pieces.files < pieces.most;)
        missed = take_block() ? 0 : missed + 1;
    if (pieces.pinned)
        lock_pieces(before);
}

/* Each CPU keeps a few blocks of its own, of which only those who run there get any. */
static void renew_pieces(void)
{
    cpu_set_t all, one;
    bool pinned = sched_getaffinity(0, sizeof all, &all) == 0;
    for (int cpu = 0; pinned && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            break_blocks(2);
        }
    if (pinned)
        sched_setaffinity(0, sizeof all, &all);
}

/* Blocks that the kernel makes for a program that asks for huge pages: by moving what is not ours, and by taking cached files
 * back. They are asked for in the same way until there are none, and a locked page of each is kept. Each may take 10 ms, so a
 * machine on which much else runs is left as it is after three seconds, and seven at first; then the proof says whether that
 * was enough. */
static const uint64_t LONGEST_NS = 3000000000, LONGEST_FIRST_NS = 7000000000;

static struct {
    char **pages;
    size_t count;
} asked;

static bool take_asked(size_t page)
{
    char *start = asked_block();
    if (!start)
        return false;
    /* Advice for a part of a huge page splits it. */
    bool kept = madvise(start, pieces.block, MADV_NOHUGEPAGE) == 0 && madvise(start, page, MADV_COLD) == 0;
    kept = kept && mlock(start, page) == 0;
    munmap(start + (kept ? page : 0), pieces.block - (kept ? page : 0));
    if (kept)
        asked.pages[asked.count++] = start;
    return kept;
}

static void break_for(uint64_t longest_ns)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t until_ns = now_ns() + longest_ns;
    drain_page_lists();
    renew_pieces();
    for (int missed = 0; pieces.pinned && missed < MISSES && asked.count < pieces.most && now_ns() < until_ns;)
        missed = take_asked(page) ? 0 : missed + 1;
}

static void break_more(void)
{
    break_for(LONGEST_NS);
}

static void make_fragment(int argc, char **argv)
{
    uint64_t all = kernel_field("/proc/meminfo", "MemTotal") * 1024;
    /* Blocks full of cached files would be whole again when the kernel takes the files back. */
    kernel_write("/proc/sys/vm/drop_caches", "3");
    drain_page_lists();
    pieces.permille_before = free_permille_in_huge_blocks();
    pieces.block = huge_block_bytes();
    pieces.pinned = argc > 0 && strcmp(argv[0], "pinned") == 0;
    if (pieces.pinned)
        kernel_write("/proc/sys/vm/compact_memory", "1");
    drain_page_lists();
    pieces.most = 4 * all / pieces.block;
    asked.pages = mmap(NULL, pieces.most * sizeof *asked.pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (asked.pages == MAP_FAILED)
        state_lacks("no memory for a list: %s", strerror(errno));
    pieces.folder = small_tmpfs(pieces.most * (size_t)sysconf(_SC_PAGESIZE) / 4 + ROOM_BLOCKS * pieces.block);
    break_blocks(64);
    break_for(LONGEST_FIRST_NS);
}

static void end_pieces(void)
{
    for (size_t number = 0; number < pieces.files; number++) {
        int file = piece(number, O_RDWR);
        if (ftruncate(file, 0) != 0)
            break;
        close(file);
    }
    close(pieces.folder);
    for (size_t i = 0; i < asked.count; i++)
        munmap(asked.pages[i], (size_t)sysconf(_SC_PAGESIZE));
    /* What others have allocated meanwhile lies in the pieces. */
    make_whole(pieces.permille_before - pieces.permille_before / 20, LONGEST_HEAL_NS);
}

/* Of the huge pages that faults asked for since these facts were told last, the share that was had. */
static uint64_t granted_permille(void)
{
    static uint64_t granted_before, refused_before;
    uint64_t granted = kernel_field("/proc/vmstat", "thp_fault_alloc");
    uint64_t refused = kernel_field("/proc/vmstat", "thp_fault_fallback");
    uint64_t had = granted - granted_before, asked = had + refused - refused_before;
    granted_before = granted;
    refused_before = refused;
    return asked ? had * 1000 / asked : 0;
}

static void facts_of_pieces(void)
{
    state_fact("pieces", pieces.whole);
    state_fact("pieces_asked_for", asked.count);
    state_fact("huge_faults_granted_permille", granted_permille());
}

MAKER(fragment, .make = make_fragment, .prepare = break_more, .renew = renew_pieces,
      .facts = facts_of_pieces, .end = end_pieces);

/* ---- full of cached files: the holes of a sparse file fill the cache with clean pages, without a device ---- */

enum { PIECE = 2 << 20, PIECES = 8 };
/* On a virtual machine whose host takes free memory back, each page that is touched first costs some microseconds: 20 GiB of
 * cache took two minutes. What is more than this is held untouched. */
static const uint64_t CACHED_BYTES = (uint64_t)4 << 30;
static int sparse = -1;
static off_t sparse_end;
static _Atomic off_t *sparse_at; /* shared by the processes that read ahead */

static uint64_t high_watermark_bytes(void)
{
    return of_zones(" high %llu") * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t free_bytes(void)
{
    return kernel_field("/proc/meminfo", "MemFree") * 1024;
}

/* Reading ahead fills pages of holes without copying them to anybody. The file is larger than memory, so what comes round again
 * was taken back. */
static void read_ahead(uint64_t least_free)
{
    off_t until = *sparse_at + sparse_end;
    while (free_bytes() > least_free) {
        off_t at = atomic_fetch_add(sparse_at, (off_t)PIECE * PIECES);
        for (int i = 0; i < PIECES; i++, at += PIECE)
            if (at >= until || posix_fadvise(sparse, at % sparse_end, PIECE, POSIX_FADV_WILLNEED) != 0)
                return;
    }
}

/* Zeroing pages takes a CPU: each has a process of its own for that. */
static void fill_cache(void)
{
    uint64_t least_free = 2 * high_watermark_bytes();
    if (free_bytes() <= least_free)
        return;
    for (long cpu = sysconf(_SC_NPROCESSORS_ONLN); cpu > 0; cpu--)
        if (state_child() == 0) {
            read_ahead(least_free);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

static void make_cache(int argc, char **argv)
{
    char path[4096];
    uint64_t least_free = 2 * high_watermark_bytes() + CACHED_BYTES, all = kernel_field("/proc/meminfo", "MemTotal") * 1024;
    if (argc < 1)
        state_lacks("no folder for a file");
    snprintf(path, sizeof path, "%s/cache", argv[0]);
    sparse = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    sparse_end = (off_t)(2 * all / PIECE / PIECES * PIECE * PIECES);
    sparse_at = mmap(NULL, sizeof *sparse_at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (sparse_at == MAP_FAILED)
        state_lacks("no shared page: %s", strerror(errno));
    if (sparse < 0 || unlink(path) != 0 || ftruncate(sparse, sparse_end) != 0)
        state_lacks("%s: %s", path, strerror(errno));
    if (free_bytes() > least_free)
        held_untouched(free_bytes() - least_free);
    fill_cache();
}

static void facts_of_cache(void)
{
    uint64_t high = high_watermark_bytes();
    state_fact("free_permille_of_high_watermark", high ? free_bytes() * 1000 / high : 0);
}

MAKER(cache, .make = make_cache, .renew = fill_cache, .facts = facts_of_cache);
