/* Stacks of page faults, or of samples of the kernel's time. A second event for each processor saves registers and stack memory
 * of one in so many; it has rings of its own, so that what is lost there spoils no count. */
#include "stacks.h"
#include "core.h"
#include "helper/process.h"
#include "kernel.h"
#include "ring.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

enum { MOST_CPUS = 512, SAVED_BYTES = 16 << 10, WIDE_PAGES = 2048, USUAL_PAGES = 256, LEAST_PAGES = 32 };
#if defined(__x86_64__)
enum { REGISTERS = 3, FP = 0, SP = 1, PC = 2, LR = 2 };
static const uint64_t registers = 1u << 6 | 1u << 7 | 1u << 8; /* bp, sp, ip */
#else
enum { REGISTERS = 4, FP = 0, LR = 1, SP = 2, PC = 3 };
static const uint64_t registers = 1ull << 29 | 1ull << 30 | 1ull << 31 | 1ull << 32; /* x29, lr, sp, pc */
#endif

/* A line of the file, before `bytes` more bytes: a path or stack memory. */
struct line {
    uint64_t a, b, c, d;
    uint32_t tag, kind, weight, bytes;
    int32_t pid, unused;
};

static struct {
    int cpus, fd[MOST_CPUS];
    struct perf_event_mmap_page *ring[MOST_CPUS];
    size_t ring_bytes;
    uint32_t lost[MOST_CPUS];
    uint64_t all_lost;
    struct stack_events events;
    FILE *file;
    char reason[160];
} stacks;

static int open_event(pid_t pid, int cpu)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        /* Not ..._MIN: events of one kind share a sample's size in the kernel, and the other's records would be as large. */
        .config = PERF_COUNT_SW_PAGE_FAULTS,
        .sample_period = stacks.events.period,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
        .sample_regs_user = registers, .sample_stack_user = SAVED_BYTES,
        .disabled = 1, .inherit = 1, .enable_on_exec = !stacks.events.attached,
        .exclude_kernel = !stacks.events.in_kernel, .exclude_hv = 1, .watermark = 1,
        .wakeup_watermark = LEAST_PAGES * 4096 / 2, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
    };
    if (stacks.events.clock) {
        attr.config = PERF_COUNT_SW_CPU_CLOCK;
        attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
        attr.exclude_callchain_user = attr.exclude_user = attr.exclude_idle = 1;
        attr.exclude_kernel = 0;
    }
    if (stacks.events.wide) {
        attr.inherit = attr.enable_on_exec = 0;
        pid = -1;
    }
    return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool map_rings(size_t pages)
{
    stacks.ring_bytes = pages * 4096;
    for (int i = 0; i < stacks.cpus; i++) {
        stacks.ring[i] = mmap(NULL, stacks.ring_bytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, stacks.fd[i], 0);
        if (stacks.ring[i] != MAP_FAILED)
            continue;
        snprintf(stacks.reason, sizeof stacks.reason, "mmap of a ring of stacks: %s", strerror(errno));
        while (i-- > 0)
            munmap(stacks.ring[i], stacks.ring_bytes + 4096);
        return false;
    }
    stacks.reason[0] = 0;
    return true;
}

void stacks_start(void)
{
    for (int i = 0; i < stacks.cpus; i++)
        ioctl(stacks.fd[i], PERF_EVENT_IOC_ENABLE, 0);
}

void stacks_join(pid_t pid, pid_t thread)
{
    join_events(pid, thread, stacks.cpus, stacks.fd, open_event);
}

void stacks_begin(pid_t pid, struct stack_events events, const char *path)
{
    stacks.events = events;
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus && cpu < MOST_CPUS; cpu++) {
        int fd = open_event(pid, cpu);
        if (fd < 0 && stacks.events.wide && !stacks.cpus && (errno == EACCES || errno == EPERM)) {
            stacks.events.wide = false;
            fd = open_event(pid, cpu);
        }
        if (fd >= 0)
            stacks.fd[stacks.cpus++] = fd;
        else if (errno != ENODEV) /* ENODEV: a processor that is switched off */
            snprintf(stacks.reason, sizeof stacks.reason, "perf_event_open: %s", strerror(errno));
    }
    if (!stacks.reason[0] &&
        ((!events.attached && map_rings(WIDE_PAGES)) || map_rings(USUAL_PAGES) || map_rings(LEAST_PAGES))) {
        stacks.file = fopen(path, "we");
        if (!stacks.file)
            snprintf(stacks.reason, sizeof stacks.reason, "%s: %s", path, strerror(errno));
    }
    if (stacks.file && stacks.events.wide && !events.attached)
        stacks_start();
    if (stacks.file)
        return;
    for (int i = 0; i < stacks.cpus; i++)
        close(stacks.fd[i]);
    stacks.cpus = 0;
}

void stacks_poll(int poll)
{
    for (int i = 0; i < stacks.cpus; i++)
        epoll_ctl(poll, EPOLL_CTL_ADD, stacks.fd[i], &(struct epoll_event){.events = EPOLLIN | EPOLLET});
}

/* tid and pid, time, address, the kernel's call chain with its length, ABI, registers, size of the stack, stack, size of what
 * is valid of it. A process that is ending has no registers and no stack any more. */
static void take_sample(const struct perf_event_header *header, uint32_t lost, stacks_taker *take)
{
    const uint64_t *word = (const uint64_t *)(header + 1), *at = word + 3;
    int kind = -1;
    const char *call = "";
    if (stacks.events.clock) {
        kind = kernel_work(at + 1, *at, &call);
        at += 1 + *at;
    }
    bool has_stack = *at == PERF_SAMPLE_REGS_ABI_64;
    if (!has_stack && kind < 0)
        return;
    static const uint64_t none[REGISTERS + 1];
    const uint64_t *regs = has_stack ? at + 1 : none, *stack = regs + REGISTERS + 1;
    uint64_t bytes = stack[-1] ? stack[stack[-1] / 8] : 0;
    struct saved_stack *saved = malloc(sizeof *saved + bytes);
    if (!saved)
        return;
    *saved = (struct saved_stack){.pc = regs[PC], .sp = regs[SP], .fp = regs[FP], .lr = regs[LR], .bytes = bytes, .kind = kind,
                                  .call = call};
    memcpy(saved->memory, stack, bytes);
    take(((const int32_t *)word)[0], word[1], word[2], lost, saved);
}

static void read_ring(int cpu, stacks_taker *take)
{
    struct perf_event_mmap_page *ring = stacks.ring[cpu];
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = ring->data_tail;
    while (tail < head) {
        const struct perf_event_header *header = ring_record(ring, stacks.ring_bytes, tail);
        tail += header->size;
        if (header->type == PERF_RECORD_SAMPLE) {
            take_sample(header, stacks.lost[cpu], take);
            stacks.lost[cpu] = 0;
        } else if (header->type == PERF_RECORD_LOST) {
            stacks.lost[cpu] += (uint32_t)((const uint64_t *)(header + 1))[1];
            stacks.all_lost += ((const uint64_t *)(header + 1))[1];
        }
    }
    __atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

void stacks_read(stacks_taker *take)
{
    for (int i = 0; i < stacks.cpus; i++)
        read_ring(i, take);
}

static void put(struct line line, const void *more)
{
    if (stacks.file && fwrite(&line, sizeof line, 1, stacks.file) == 1 && more)
        fwrite(more, 1, line.bytes, stacks.file);
}

void stacks_write(const struct saved_stack *s, pid_t pid, int kind, uint32_t weight)
{
    put((struct line){.tag = 'S', .pid = pid, .a = s->pc, .b = s->sp, .c = s->fp, .d = s->lr, .kind = (uint32_t)kind,
                      .weight = weight, .bytes = (uint32_t)s->bytes}, s->memory);
}

void stacks_map(pid_t pid, uint64_t start, uint64_t bytes, uint64_t offset, const char *path)
{
    put((struct line){.tag = 'M', .pid = pid, .a = start, .b = bytes, .c = offset, .bytes = (uint32_t)strlen(path)}, path);
}

void stacks_fork(pid_t parent, pid_t child)
{
    put((struct line){.tag = 'F', .pid = child, .a = (uint64_t)parent}, NULL);
}

void stacks_exec(pid_t pid)
{
    put((struct line){.tag = 'X', .pid = pid}, NULL);
}

void stacks_print(void)
{
    if (stacks.file && fclose(stacks.file) != 0)
        snprintf(stacks.reason, sizeof stacks.reason, "the file of stacks: %s", strerror(errno));
    if (stacks.reason[0])
        printf(",\"stacks_unseen\":\"%s\"", stacks.reason);
}

uint64_t stacks_lost(void)
{
    return stacks.all_lost;
}

bool stacks_are_wide(void)
{
    return stacks.events.wide;
}
