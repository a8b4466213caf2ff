/* States in which memory may be swapped: to compressed memory, or to a file. The laboratory tells the guard which device or
 * file before this begins. */
#include "state.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <time.h>

static char device[4096];

/* The header of a swap area of version 1, as mkswap(8) writes it (include/linux/swap.h, union swap_header). */
static bool write_header(int fd, uint64_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char header[65536] = {0};
    uint32_t version[] = {1, (uint32_t)(bytes / page - 1), 0};
    memcpy(header + 1024, version, sizeof version);
    memcpy(header + page - 10, "SWAPSPACE2", 10);
    return pwrite(fd, header, page, 0) == (ssize_t)page && fsync(fd) == 0;
}

/* Data of this process that lies in the swap area for as long as it is held: each page is half zeros, half noise. */
static char *idle_data(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        state_lacks("no memory to swap: %s", strerror(errno));
    for (size_t i = 0; i < bytes; i += page)
        for (size_t j = 0; j < page / 2; j += sizeof(uint64_t))
            *(uint64_t *)(at + i + j) = pattern_word(i + j, 1);
    return at;
}

static void swap_some_out(void)
{
    size_t bytes = 64 << 20;
    if (madvise(idle_data(bytes), bytes, MADV_PAGEOUT) != 0)
        state_lacks("madvise(MADV_PAGEOUT): %s", strerror(errno));
}

static void use(const char *path, int fd, uint64_t bytes)
{
    snprintf(device, sizeof device, "%s", path);
    if (fd < 0 || !write_header(fd, bytes))
        state_lacks("%s: %s", path, strerror(errno));
    close(fd);
    if (swapon(path, SWAP_FLAG_PREFER | 100) != 0)
        state_lacks("%s cannot be swapped to: %s", path, strerror(errno));
    swap_some_out();
}

static void end_swap(void)
{
    swapoff(device);
}

/* zram DEVICE ALGORITHM BYTES: DEVICE is such as zram0. */
static void make_zram(int argc, char **argv)
{
    char path[128];
    if (argc < 3)
        state_lacks("no device for compressed memory");
    snprintf(path, sizeof path, "/sys/block/%s/comp_algorithm", argv[0]);
    if (!kernel_write(path, argv[1]))
        state_lacks("%s takes no %s: %s", path, argv[1], strerror(errno));
    snprintf(path, sizeof path, "/sys/block/%s/disksize", argv[0]);
    if (!kernel_write(path, argv[2]))
        state_lacks("%s: %s", path, strerror(errno));
    snprintf(path, sizeof path, "/dev/%s", argv[0]);
    use(path, open(path, O_RDWR | O_CLOEXEC), strtoull(argv[2], NULL, 10));
}

static void end_zram(void)
{
    char path[128];
    end_swap();
    snprintf(path, sizeof path, "/sys/block/%s/reset", strrchr(device, '/') + 1);
    kernel_write(path, "1");
}

/* What is kept in the device, and what it takes in memory. */
static void facts_of_zram(void)
{
    char path[128], text[256] = "";
    unsigned long long kept = 0, compressed = 0;
    snprintf(path, sizeof path, "/sys/block/%s/mm_stat", strrchr(device, '/') + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && sscanf(text, "%llu %llu", &kept, &compressed) == 2) {
        state_fact("zram_bytes", kept);
        state_fact("zram_compressed_bytes", compressed);
    }
    if (fd >= 0)
        close(fd);
}

static void facts_of_swap(void)
{
    state_fact("held_swap_bytes", kernel_field("/proc/self/status", "VmSwap") * 1024);
    if (strncmp(device, "/dev/zram", 9) == 0)
        facts_of_zram();
}

MAKER(zram, .make = make_zram, .facts = facts_of_swap, .end = end_zram);

/* ---- DAMON takes what is idle (Documentation/admin-guide/mm/damon/usage.rst) ---- */

static const char *damon;

static void damon_set(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/kdamonds/%s", damon, name);
    if (!kernel_write(path, text))
        state_lacks("%s: %s", path, strerror(errno));
}

static void damon_number(const char *name, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    damon_set(name, text);
}

/* All memory of the machine, from the first region of /proc/iomem to the last. */
static void damon_watches_memory(void)
{
    FILE *ranges = fopen("/proc/iomem", "re");
    char line[256];
    unsigned long long from, to, first = ~0ull, last = 0;
    while (ranges && fgets(line, sizeof line, ranges))
        if (strstr(line, "System RAM") && sscanf(line, "%llx-%llx", &from, &to) == 2) {
            first = from < first ? from : first;
            last = to > last ? to + 1 : last;
        }
    if (ranges)
        fclose(ranges);
    if (first >= last)
        state_lacks("/proc/iomem shows no memory; run as root");
    damon_number("0/contexts/0/targets/0/regions/nr_regions", 1);
    damon_number("0/contexts/0/targets/0/regions/0/start", first);
    damon_number("0/contexts/0/targets/0/regions/0/end", last);
}

static uint64_t paged_out_bytes(void)
{
    char path[512];
    damon_set("0/state", "update_schemes_stats");
    snprintf(path, sizeof path, "%s/kdamonds/0/contexts/0/schemes/0/stats/sz_applied", damon);
    return kernel_number(path);
}

/* damon ROOT DEVICE ALGORITHM BYTES. Ages are counted in aggregations of 100 ms. */
static void make_damon(int argc, char **argv)
{
    static const char scheme[] = "0/contexts/0/schemes/0";
    static const struct {
        const char *name;
        uint64_t value;
    } limits[] = {{"access_pattern/sz/min", 4096}, {"access_pattern/sz/max", UINT64_MAX}, {"access_pattern/nr_accesses/min", 0},
                  {"access_pattern/nr_accesses/max", 0}, {"access_pattern/age/min", 50}, {"access_pattern/age/max", UINT32_MAX},
                  {"quotas/bytes", 256 << 20}, {"quotas/reset_interval_ms", 1000}};
    char name[128];
    if (argc < 4)
        state_lacks("no device for compressed memory");
    damon = argv[0];
    make_zram(argc - 1, argv + 1);
    idle_data(256 << 20);
    damon_number("nr_kdamonds", 1);
    damon_number("0/contexts/nr_contexts", 1);
    damon_set("0/contexts/0/operations", "paddr");
    damon_number("0/contexts/0/targets/nr_targets", 1);
    damon_watches_memory();
    damon_number("0/contexts/0/schemes/nr_schemes", 1);
    snprintf(name, sizeof name, "%s/action", scheme);
    damon_set(name, "pageout");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        snprintf(name, sizeof name, "%s/%s", scheme, limits[i].name);
        damon_number(name, limits[i].value);
    }
    damon_set("0/state", "on");
    struct timespec pause = {0, 500000000};
    for (int i = 0; i < 60 && paged_out_bytes() < 64 << 20; i++)
        nanosleep(&pause, NULL);
}

static void end_damon(void)
{
    damon_set("0/state", "off");
    damon_number("nr_kdamonds", 0);
    end_zram();
}

static void facts_of_damon(void)
{
    facts_of_swap();
    state_fact("damon_paged_out_bytes", paged_out_bytes());
}

MAKER(damon, .make = make_damon, .facts = facts_of_damon, .end = end_damon);

/* ---- a file on the disk ---- */

/* swap-file FILE BYTES: all of it has blocks before it is used. */
static void make_swap_file(int argc, char **argv)
{
    if (argc < 2)
        state_lacks("no file to swap to");
    uint64_t bytes = strtoull(argv[1], NULL, 10);
    int fd = open(argv[0], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || fallocate(fd, 0, 0, (off_t)bytes) != 0)
        state_lacks("%s: %s", argv[0], strerror(errno));
    use(argv[0], fd, bytes);
}

static void end_swap_file(void)
{
    end_swap();
    unlink(device);
}

MAKER(swap_file, .make = make_swap_file, .facts = facts_of_swap, .end = end_swap_file);
