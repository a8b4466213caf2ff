/* A sample sums over all descendants of this process, which has adopted what the command left behind. It takes a fiftieth of
 * the time between two samples at most: the kernel walks all page tables of a process for its resident memory. */
#include "watch.h"
#include "core.h"
#include "process.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

enum { MOST_PROCESSES = 4096, MOST_MOMENTS = 256, SHARE = 50, ADVISE_MS = 1000, FIRST_MS = 5, MOMENTS = 20 };

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

struct process {
    pid_t pid, parent;
    bool is_ours;
    uint64_t children_ticks, minor_faults, major_faults;
};

struct moment {
    uint64_t at_ms, cpu_us, rss_kib, pss_kib, huge_kib, swap_kib, merged_kib, minor_faults, major_faults, refaults;
};

static struct {
    uint64_t every_ms, begun_ns, due_ns, advise_ns, refaults;
    int advice;
    uint64_t advised_bytes;
    int advice_error;
    struct process processes[MOST_PROCESSES];
    int process_count;
    struct moment moments[MOST_MOMENTS];
    int count;
} watch = {.advice = -1};

/* Pages that came back after the kernel had taken them, on the whole machine (Documentation/admin-guide/cgroup-v2.rst). */
static uint64_t machine_refaults(void)
{
    static const char *const names[] = {"workingset_refault_anon ", "workingset_refault_file ", "workingset_refault "};
    char *text = process_text(0, "vmstat", NULL);
    uint64_t sum = 0;
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++) {
        uint64_t pages = process_field(text, names[i]);
        sum += pages == UINT64_MAX ? 0 : pages;
    }
    free(text);
    return sum;
}

static bool read_stat(pid_t pid, struct process *p)
{
    char *text = process_text(pid, "stat", NULL), *at = text ? strrchr(text, ')') : NULL;
    unsigned long long minor, of_minor, major, of_major, user, system;
    int parent;
    bool is_read = at && sscanf(at + 1, " %*c %d %*d %*d %*d %*d %*u %llu %llu %llu %llu %*u %*u %llu %llu", &parent, &minor,
                                &of_minor, &major, &of_major, &user, &system) == 7;
    if (is_read)
        *p = (struct process){.pid = pid, .parent = parent, .children_ticks = user + system, .minor_faults = minor + of_minor,
                              .major_faults = major + of_major};
    free(text);
    return is_read;
}

/* Lists all processes and marks the descendants of this one. */
static void find_processes(void)
{
    DIR *all = opendir("/proc");
    watch.process_count = 0;
    for (struct dirent *entry; all && (entry = readdir(all)) && watch.process_count < MOST_PROCESSES;) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid > 0 && pid != getpid() && read_stat(pid, &watch.processes[watch.process_count]))
            watch.process_count++;
    }
    if (all)
        closedir(all);
    struct process *end = watch.processes + watch.process_count;
    for (bool more = true; more;) {
        more = false;
        for (struct process *p = watch.processes; p < end; p++) {
            bool is_ours = p->parent == getpid();
            for (struct process *q = watch.processes; q < end && !is_ours; q++)
                is_ours = q->is_ours && q->pid == p->parent;
            more |= is_ours && !p->is_ours;
            p->is_ours |= is_ours;
        }
    }
}

static void add_memory(pid_t pid, struct moment *m)
{
    char *text = process_text(pid, "smaps_rollup", NULL);
    const struct {
        const char *name;
        uint64_t *sum;
    } fields[] = {{"\nRss:", &m->rss_kib}, {"\nPss:", &m->pss_kib}, {"\nAnonHugePages:", &m->huge_kib},
                  {"\nSwap:", &m->swap_kib}};
    for (size_t i = 0; text && i < sizeof fields / sizeof *fields; i++) {
        uint64_t kib = process_field(text, fields[i].name);
        *fields[i].sum += kib == UINT64_MAX ? 0 : kib;
    }
    free(text);
    m->merged_kib += merged_pages(pid) * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024);
}

static void add_time(const struct process *p, struct moment *m)
{
    clockid_t clock;
    struct timespec cpu = {0, 0};
    if (clock_getcpuclockid(p->pid, &clock) == 0 && clock_gettime(clock, &cpu) == 0)
        m->cpu_us += (uint64_t)cpu.tv_sec * 1000000 + (uint64_t)cpu.tv_nsec / 1000;
    m->cpu_us += p->children_ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    m->minor_faults += p->minor_faults;
    m->major_faults += p->major_faults;
}

static uint64_t at_least(uint64_t now, uint64_t before)
{
    return now > before ? now : before;
}

/* Keeps every second moment where there is no room, and from then on takes half as many. */
static void keep(const struct moment *m)
{
    if (watch.count == MOST_MOMENTS) {
        for (int i = 0; i < MOST_MOMENTS / 2; i++)
            watch.moments[i] = watch.moments[2 * i + 1];
        watch.count = MOST_MOMENTS / 2;
        watch.every_ms *= 2;
    }
    watch.moments[watch.count++] = *m;
}

static void sample(void)
{
    struct rusage ended;
    getrusage(RUSAGE_CHILDREN, &ended);
    uint64_t now = now_ns();
    struct moment m = {.at_ms = (now - watch.begun_ns) / 1000000,
                       .cpu_us = (uint64_t)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * 1000000 +
                                 (uint64_t)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec),
                       .minor_faults = (uint64_t)ended.ru_minflt, .major_faults = (uint64_t)ended.ru_majflt,
                       .refaults = machine_refaults() - watch.refaults};
    find_processes();
    for (int i = 0; i < watch.process_count; i++)
        if (watch.processes[i].is_ours) {
            add_memory(watch.processes[i].pid, &m);
            add_time(&watch.processes[i], &m);
        }
    if (watch.count) {
        /* A process that ends meanwhile is in neither sum for a moment. */
        const struct moment *last = &watch.moments[watch.count - 1];
        m.cpu_us = at_least(m.cpu_us, last->cpu_us);
        m.minor_faults = at_least(m.minor_faults, last->minor_faults);
        m.major_faults = at_least(m.major_faults, last->major_faults);
    }
    keep(&m);
    /* A short launch has as many moments as a long one, as far as looking takes no more than its share of the time. */
    uint64_t next_ns = at_least(FIRST_MS * 1000000, (now - watch.begun_ns) / MOMENTS);
    if (next_ns > watch.every_ms * 1000000)
        next_ns = watch.every_ms * 1000000;
    watch.due_ns = now + at_least(next_ns, SHARE * (now_ns() - now));
}

/* Gives every private mapping of a process the advice; special mappings take none. */
static void advise(pid_t pid)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0);
    char *text = process < 0 ? NULL : process_text(pid, "maps", NULL);
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n'), rights[8];
        unsigned long first, last;
        if (end)
            *end = 0;
        if (sscanf(line, "%lx-%lx %7s", &first, &last, rights) == 3 && rights[3] == 'p' && !strstr(line, "[v")) {
            struct iovec range = {(void *)first, last - first};
            long bytes = syscall(SYS_process_madvise, process, &range, 1ul, watch.advice, 0u);
            if (bytes > 0)
                watch.advised_bytes += (uint64_t)bytes;
            else if (bytes < 0)
                watch.advice_error = errno;
        }
        line = end ? end + 1 : NULL;
    }
    free(text);
    if (process >= 0)
        close(process);
}

void watch_begin(uint64_t every_ms)
{
    watch.every_ms = every_ms;
    watch.begun_ns = now_ns();
    watch.due_ns = watch.begun_ns + FIRST_MS * 1000000;
    watch.refaults = machine_refaults();
}

void watch_advise(const char *advice)
{
    watch.advice = strcmp(advice, "cold") == 0 ? MADV_COLD : MADV_PAGEOUT;
    watch.advise_ns = now_ns() + ADVISE_MS * 1000000 / 4;
}

uint64_t watch_wait_ms(void)
{
    uint64_t now = now_ns(), due = UINT64_MAX;
    if (watch.every_ms)
        due = watch.due_ns;
    if (watch.advice >= 0 && watch.advise_ns < due)
        due = watch.advise_ns;
    return due == UINT64_MAX ? due : due > now ? (due - now) / 1000000 + 1 : 0;
}

void watch_read(void)
{
    if (watch.advice >= 0 && now_ns() >= watch.advise_ns) {
        find_processes();
        for (int i = 0; i < watch.process_count; i++)
            if (watch.processes[i].is_ours)
                advise(watch.processes[i].pid);
        watch.advise_ns = now_ns() + ADVISE_MS * 1000000;
    }
    if (watch.every_ms && now_ns() >= watch.due_ns)
        sample();
}

void watch_end(void)
{
    if (watch.every_ms)
        sample();
}

uint64_t watch_cpu_us(void)
{
    return watch.count ? watch.moments[watch.count - 1].cpu_us : 0;
}

uint64_t watch_minor_faults(void)
{
    return watch.count ? watch.moments[watch.count - 1].minor_faults : 0;
}

uint64_t watch_advised(void)
{
    return watch.advised_bytes;
}

int watch_advice_error(void)
{
    return watch.advice_error;
}

static void print_moment(const struct moment *m, const char *before)
{
    printf("%s{\"at_ms\":%llu,\"cpu_us\":%llu,\"rss_kib\":%llu,\"pss_kib\":%llu,\"huge_kib\":%llu", before,
           (unsigned long long)m->at_ms, (unsigned long long)m->cpu_us, (unsigned long long)m->rss_kib,
           (unsigned long long)m->pss_kib, (unsigned long long)m->huge_kib);
    printf(",\"swap_kib\":%llu,\"merged_kib\":%llu,\"minor_faults\":%llu,\"major_faults\":%llu,\"refaults\":%llu}",
           (unsigned long long)m->swap_kib, (unsigned long long)m->merged_kib, (unsigned long long)m->minor_faults,
           (unsigned long long)m->major_faults, (unsigned long long)m->refaults);
}

void watch_print(uint64_t wall_ns, uint64_t cpu_us, uint64_t minor_faults)
{
    if (!watch.every_ms)
        return;
    printf(",\"watched\":{\"moments\":[");
    for (int i = 0; i < watch.count; i++)
        print_moment(&watch.moments[i], i ? "," : "");
    /* Its memory was last seen a little before its end. */
    struct moment last = watch.count ? watch.moments[watch.count - 1] : (struct moment){0};
    if (wall_ns / 1000000 > last.at_ms) {
        last.at_ms = wall_ns / 1000000;
        last.cpu_us = at_least(cpu_us, last.cpu_us);
        last.minor_faults = at_least(minor_faults, last.minor_faults);
        print_moment(&last, watch.count ? "," : "");
    }
    printf("]}");
}
