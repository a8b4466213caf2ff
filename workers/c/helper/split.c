/* The kernel divides a process's exact CPU time into user and system by the ticks that met either, and a tick is 4 ms long
 * where CONFIG_HZ is 250 (kernel/sched/cputime.c, cputime_adjust). A software clock of perf takes many more samples: what
 * scatters is the number of those in the kernel, so that four times as many halve the scatter. */
#include "split.h"
#include "core.h"
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>

/* A process that is begun inherits one clock for each processor, which costs a command with many processes time: no more than
 * these are followed. Nothing is divided below so many samples, or where one part of so many of the CPU time may be unseen. */
enum { MOST_CPUS = 16, LEAST = 20, MOST_UNSEEN = 20, RING_BYTES = 16 * 4096 };

static struct {
    int cpus, fd[MOST_CPUS];
    struct perf_event_mmap_page *ring[MOST_CPUS];
    uint64_t period_us, user, kernel, lost, started;
    bool follows, in_kernel;
} split;

static int open_clock(pid_t pid, int cpu, bool in_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = split.period_us * 1000,
        .disabled = 1, .inherit = 1, .enable_on_exec = 1, .task = 1, .exclude_kernel = !in_kernel, .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void forget(void)
{
    for (int i = 0; i < split.cpus; i++) {
        if (split.ring[i])
            munmap(split.ring[i], RING_BYTES + 4096);
        close(split.fd[i]);
    }
    split.cpus = 0;
}

/* One clock for each processor, each with a ring; false where one cannot be had. */
static bool open_all(pid_t pid)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus && cpus <= MOST_CPUS; cpu++) {
        int fd = open_clock(pid, cpu, split.in_kernel);
        if (fd < 0 && errno == ENODEV) /* a processor that is not running */
            continue;
        if (fd < 0)
            return false;
        split.fd[split.cpus] = fd;
        void *ring = mmap(NULL, RING_BYTES + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        split.ring[split.cpus++] = ring == MAP_FAILED ? NULL : ring;
        if (ring == MAP_FAILED)
            return false;
    }
    return split.cpus > 0;
}

void split_begin(pid_t pid, uint64_t period_us)
{
    split.period_us = period_us;
    if (sysconf(_SC_PAGESIZE) != 4096)
        return;
    split.in_kernel = true;
    split.follows = open_all(pid);
    if (split.follows)
        return;
    /* Who may not look into the kernel sees the user's part; the rest of the CPU time is the other. */
    forget();
    split.in_kernel = false;
    split.follows = open_all(pid);
    if (!split.follows)
        forget();
}

/* What matters of a record. */
struct start {
    struct perf_event_header header;
    uint64_t word[2];
};

static void take(const struct start *r)
{
    if (r->header.type == PERF_RECORD_LOST)
        split.lost += r->word[1];
    else if (r->header.type == PERF_RECORD_LOST_SAMPLES)
        split.lost += r->word[0];
    else if (r->header.type == PERF_RECORD_FORK)
        split.started++;
    else if (r->header.type == PERF_RECORD_SAMPLE) {
        bool kernel = (r->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        split.kernel += kernel;
        split.user += !kernel;
    }
}

/* Every record is a multiple of 8 bytes; it may go on at the ring's beginning. */
static void read_ring(struct perf_event_mmap_page *ring)
{
    const char *data = (const char *)ring + 4096;
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = ring->data_tail;
    while (tail < head) {
        struct start record;
        for (size_t i = 0; i < sizeof record; i += 8)
            memcpy((char *)&record + i, data + (tail + i) % RING_BYTES, 8);
        take(&record);
        tail += record.header.size;
    }
    __atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

void split_read(void)
{
    for (int i = 0; split.follows && i < split.cpus; i++)
        read_ring(split.ring[i]);
}

bool split_share(uint64_t cpu_us, double *kernel)
{
    split_read();
    double all = split.in_kernel ? (double)(split.user + split.kernel) : (double)cpu_us / (double)split.period_us;
    /* Each process and thread has its first sample after a whole period, and its end without one. */
    bool many = split.started * split.period_us * MOST_UNSEEN > cpu_us;
    if (!split.follows || split.lost || many || all < LEAST)
        return false;
    double user = (double)split.user / all;
    *kernel = user < 1 ? 1 - user : 0;
    return true;
}

void split_print(void)
{
    if (split.follows)
        printf(",\"split\":{\"period_us\":%llu,\"user\":%llu,\"kernel\":%llu,\"in_kernel_seen\":%s,\"lost\":%llu,"
               "\"started\":%llu}",
               (unsigned long long)split.period_us, (unsigned long long)split.user, (unsigned long long)split.kernel,
               split.in_kernel ? "true" : "false", (unsigned long long)split.lost, (unsigned long long)split.started);
}
