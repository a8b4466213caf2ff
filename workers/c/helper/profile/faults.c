/* Reads the kernel's records of page faults and mappings, one ring for each processor, and puts them into the order in
 * which they happened. A record that was lost is counted: what is then said of the command cannot be trusted. */
#include "faults.h"
#include "core.h"
#include "kernel.h"
#include "ring.h"
#include "stacks.h"
#include "touched.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

enum { MOST_CPUS = 512, NAME = 32, USUAL_PAGES = 128, WIDE_PAGES = 2048, BACK_NS = 2000000, LATE_NS = 4000000,
       RACE_NS = 50000, BLOCK = 2 << 20 };
enum { STACK = 200, CALL = 201 }; /* types of records beside the kernel's */
enum { SAMPLE_DATA_PAGE_SIZE = 1 << 22 }; /* since Linux 5.11, whose headers may be younger than these */
#if defined(__x86_64__)
enum { SAMPLE_TARGET = PERF_SAMPLE_REGS_USER, TARGET = 1 << 5 }; /* RDI, to which movs copies */
#else
enum { SAMPLE_TARGET = 0, TARGET = 0 };
#endif

/* A record, as far as it matters. */
struct record {
    uint64_t time, address, bytes, offset; /* `bytes`: of the page, or of the mapping */
    int32_t pid, parent, thread;
    uint32_t number;                   /* in the order of reading, for records of the same time */
    uint8_t type, direction;
    bool passed;
    bool flag;                         /* a fault in kernel mode; a shared mapping; an exec; a thread */
    char name[NAME];
    union {
        char *path;                /* of a mapping of code */
        struct saved_stack *stack; /* of a record of type STACK, with its weight in `parent` */
        struct mapping_call *call; /* of a record of type CALL */
    };
};

static struct {
    int cpus, fd[MOST_CPUS], poll;
    struct perf_event_mmap_page *ring[MOST_CPUS];
    size_t ring_bytes;
    struct record *pending;
    size_t count, room;
    uint32_t number;
    uint64_t lost, samples;
    bool follows, in_kernel, has_stacks, attached, wide;
    uint64_t clock_ns; /* the kernel's time is sampled instead of faults */
    uint64_t period;   /* one fault in so many is recorded; 0 and 1 are each */
    char reason[160];
} faults = {.poll = -1};

static void cannot(const char *what, int error)
{
    snprintf(faults.reason, sizeof faults.reason, "%s: %s", what, strerror(error));
}

/* Of a path that may be long, the library that it ends in, where it matters which. */
static void name_library(char *name, const char *path)
{
    static const char *const libraries[] = {"/libjvm.so", "/libc.so", "/libc-", "/ld-musl"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(path, libraries[i]))
            strcpy(name, libraries[i]);
}

/* Whether records of all processes come, of which others' are left out: events of its own cost a process that runs already time
 * at each context switch. */
static bool sees_others(void)
{
    return faults.attached && faults.wide;
}

static int open_event(pid_t pid, int cpu, bool in_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
        .sample_period = faults.period > 1 ? faults.period : 1,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                       SAMPLE_TARGET | SAMPLE_DATA_PAGE_SIZE,
        .sample_regs_user = TARGET,
        .disabled = 1, .inherit = 1, .mmap = 1, .mmap2 = 1, .mmap_data = 1, .comm = 1, .comm_exec = 1, .task = 1,
        .enable_on_exec = !faults.attached, .sample_id_all = 1, .exclude_kernel = !in_kernel, .exclude_hv = 1, .watermark = 1,
        .wakeup_watermark = USUAL_PAGES * 4096 / 8, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
    };
    if (faults.clock_ns) {
        attr.config = PERF_COUNT_SW_DUMMY; /* its records of mappings and processes are wanted all the same */
        attr.sample_period = 0;
    }
    if (sees_others()) {
        attr.inherit = 0;
        pid = -1;
    }
    return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* One event for each processor; false where even the first cannot be had. */
static bool open_all(pid_t pid)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    faults.in_kernel = true;
    for (int cpu = 0; cpu < cpus && cpu < MOST_CPUS; cpu++) {
        int fd = open_event(pid, cpu, faults.in_kernel);
        if (fd < 0 && (errno == EACCES || errno == EPERM) && sees_others() && !faults.cpus) {
            faults.wide = false;
            fd = open_event(pid, cpu, faults.in_kernel);
        }
        if (fd < 0 && (errno == EACCES || errno == EPERM) && faults.in_kernel && !faults.cpus) {
            faults.in_kernel = false;
            fd = open_event(pid, cpu, false);
        }
        if (fd < 0 && errno == ENODEV) /* a processor that is switched off */
            continue;
        if (fd < 0) {
            cannot("perf_event_open", errno);
            return false;
        }
        faults.fd[faults.cpus++] = fd;
    }
    return faults.cpus > 0;
}

static bool map_rings(size_t pages)
{
    faults.ring_bytes = pages * 4096;
    for (int i = 0; i < faults.cpus; i++) {
        void *ring = mmap(NULL, faults.ring_bytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, faults.fd[i], 0);
        if (ring == MAP_FAILED) {
            cannot("mmap of a ring of records", errno);
            while (i-- > 0)
                munmap(faults.ring[i], faults.ring_bytes + 4096);
            return false;
        }
        faults.ring[i] = ring;
    }
    return true;
}

static int open_of_thread(pid_t thread, int cpu)
{
    return open_event(thread, cpu, faults.in_kernel);
}

/* Pages that are known of a process at most, 4 GiB: to look at more takes tenths of a second of a processor. */
enum { KNOWN_PAGES = 1 << 20 };
static uint64_t known_pages;

/* The pages of a range that are there already, by /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst): those that are
 * not the process's alone are shared with its children, or are the zero page. */
static void know_pages(pid_t pid, uint64_t start, uint64_t end)
{
    enum { AT_ONCE = 4096 };
    const uint64_t present = 1ull << 63, of_file = 1ull << 61, exclusive = 1ull << 56;
    static uint64_t entries[AT_ONCE];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (uint64_t page = start / 4096; fd >= 0 && page < end / 4096 && known_pages < KNOWN_PAGES;) {
        uint64_t wanted = end / 4096 - page < AT_ONCE ? end / 4096 - page : AT_ONCE;
        ssize_t got = pread(fd, entries, wanted * sizeof *entries, (off_t)(page * sizeof *entries));
        if (got <= 0)
            break;
        for (size_t i = 0; i < (size_t)got / sizeof *entries; i++)
            if ((entries[i] & (present | of_file)) == present)
                touched_before(pid, (page + i) * 4096, entries[i] & exclusive);
        page += (uint64_t)got / sizeof *entries;
        known_pages += (uint64_t)got / sizeof *entries;
    }
    if (fd >= 0)
        close(fd);
}

/* What a process has mapped already, and with `pages` what it has touched of that. */
static void know_mappings(pid_t pid, bool pages)
{
    char path[64], line[4096 + 128];
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset;
        char rights[8], name[NAME];
        int at = 0;
        if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %n", &start, &end, rights, &offset, &at) < 4 || !at)
            continue;
        line[strcspn(line, "\n")] = 0;
        const char *file = line[at] ? line + at : "//anon";
        snprintf(name, sizeof name, "%s", file);
        name_library(name, file);
        touched_map(pid, start, end - start, rights[3] == 's', name);
        if (pages && rights[3] == 'p' && rights[1] == 'w')
            know_pages(pid, start, end);
        if (rights[2] == 'x' && file[0] == '/')
            stacks_map(pid, start, end - start, offset, file);
    }
    if (maps)
        fclose(maps);
}

void faults_attach(pid_t pid, struct follow how)
{
    char path[64];
    faults.attached = true;
    faults.period = how.period;
    if (how.kernel_ns)
        faults_sample(pid, how.stacks, how.kernel_ns, true);
    else
        faults_begin(pid, how.stacks, how.stack_period);
    if (!faults.follows || process_has_ended(how.process)) /* before the events were there: the number may be another's */
        return;
    know_mappings(pid, !how.kernel_ns);
    stacks_start();
    for (int i = 0; i < faults.cpus; i++)
        ioctl(faults.fd[i], PERF_EVENT_IOC_ENABLE, 0);
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        pid_t thread = (pid_t)atoi(task->d_name);
        if (thread > 0 && thread != pid && !sees_others()) {
            join_events(pid, thread, faults.cpus, faults.fd, open_of_thread);
            stacks_join(pid, thread);
        }
    }
    if (tasks)
        closedir(tasks);
    know_mappings(pid, false); /* mapped meanwhile */
}

const char *faults_reason(void)
{
    return faults.follows ? "" : faults.reason;
}

void faults_begin(pid_t pid, const char *stacks, uint64_t period)
{
    if (sysconf(_SC_PAGESIZE) != 4096) {
        snprintf(faults.reason, sizeof faults.reason, "base pages are not of 4 KiB");
        return;
    }
    /* A process that runs already needs the processors, and few of its faults are recorded. */
    if (!open_all(pid) || ((faults.attached || !map_rings(WIDE_PAGES)) && !map_rings(USUAL_PAGES))) {
        for (int i = 0; i < faults.cpus; i++)
            close(faults.fd[i]);
        return;
    }
    faults.follows = true;
    faults.has_stacks = stacks != NULL;
    if (stacks)
        stacks_begin(pid, (struct stack_events){faults.in_kernel, faults.attached, faults.clock_ns != 0, faults.wide, period},
                     stacks);
    faults.poll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < faults.cpus; i++) {
        struct epoll_event when = {.events = EPOLLIN | EPOLLET};
        epoll_ctl(faults.poll, EPOLL_CTL_ADD, faults.fd[i], &when);
    }
    stacks_poll(faults.poll);
}

void faults_sample(pid_t pid, const char *stacks, uint64_t period_ns, bool wide)
{
    faults.clock_ns = period_ns;
    faults.wide = wide;
    if (!kernel_names()) {
        snprintf(faults.reason, sizeof faults.reason, "/proc/kallsyms has no addresses");
        return;
    }
    faults_begin(pid, stacks, period_ns);
    if (faults.follows && !faults.in_kernel) {
        faults.follows = false;
        cannot("perf_event_open", EACCES);
    }
}

int faults_descriptor(void)
{
    return faults.poll;
}

static void keep(struct record r)
{
    if (faults.count == faults.room) {
        size_t room = faults.room ? 2 * faults.room : 1 << 14;
        struct record *more = realloc(faults.pending, room * sizeof *more);
        if (!more) {
            faults.lost++;
            return;
        }
        faults.pending = more;
        faults.room = room;
    }
    r.number = faults.number++;
    faults.pending[faults.count++] = r;
}

/* One record of the ring, in one piece. */
static void take(const struct perf_event_header *header)
{
    const uint64_t *word = (const uint64_t *)(header + 1), *end = (const uint64_t *)((const char *)header + header->size);
    const uint32_t *half = (const uint32_t *)word;
    struct record r = {.type = (uint8_t)header->type};
    bool has_target;
    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        r.pid = (int32_t)half[2];
        r.thread = (int32_t)half[3];
        r.time = word[2];
        r.address = word[3];
        has_target = SAMPLE_TARGET && word[4]; /* the kind of registers; none of a thread of the kernel */
        r.bytes = word[4 + (SAMPLE_TARGET != 0) + has_target];
        r.flag = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
        r.direction = (uint8_t)(r.flag ? DIRECTION_WRITE : direction_at(r.pid, word[0]));
        if (r.direction == DIRECTION_COPY)
            r.direction = has_target && word[5] / 4096 != r.address / 4096 ? DIRECTION_READ : DIRECTION_WRITE;
        faults.samples++;
        break;
    case PERF_RECORD_LOST:
        faults.lost += word[1];
        return;
    case PERF_RECORD_LOST_SAMPLES:
        faults.lost += word[0];
        return;
    case PERF_RECORD_COMM:
        if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
            return;
        r.pid = (int32_t)half[0];
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        r.pid = (int32_t)half[0];
        r.parent = (int32_t)half[1];
        r.flag = half[0] == half[1];
        break;
    case PERF_RECORD_MMAP2:
        r.pid = (int32_t)half[0];
        r.address = word[1];
        r.bytes = word[2];
        r.flag = (half[15] & MAP_SHARED) != 0; /* pid tid, addr, len, pgoff, 24 bytes of the file, prot, flags */
        snprintf(r.name, sizeof r.name, "%s", (const char *)(word + 8));
        name_library(r.name, (const char *)(word + 8));
        if (faults.has_stacks && half[14] & PROT_EXEC) {
            r.path = strdup((const char *)(word + 8));
            r.offset = word[3];
        }
        break;
    default:
        return;
    }
    if (header->type != PERF_RECORD_SAMPLE)
        r.time = end[-1];
    keep(r);
}

void faults_call(pid_t pid, const struct mapping_call *call)
{
    struct mapping_call *kept = faults.follows ? malloc(sizeof *kept) : NULL;
    if (!kept)
        return;
    *kept = *call;
    keep((struct record){.type = CALL, .pid = pid, .time = now_ns(), .call = kept});
}

static void read_ring(struct perf_event_mmap_page *ring)
{
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = ring->data_tail;
    while (tail < head) {
        const struct perf_event_header *header = ring_record(ring, faults.ring_bytes, tail);
        tail += header->size;
        take(header);
    }
    __atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void take_stack(pid_t pid, uint64_t time, uint64_t address, uint32_t lost, struct saved_stack *stack)
{
    uint64_t late_ns = stack->kind < 0 ? LATE_NS : 0; /* of a sample of the kernel's time no other record is waited for */
    keep((struct record){.type = STACK, .pid = pid, .time = time + late_ns, .address = address, .parent = (int32_t)lost + 1,
                         .stack = stack});
}

/* A stack is saved when its fault begins, and the fault's own record is made when it ends: the first one after it on the same
 * page. That has been passed on, as the stack is taken LATE_NS late. */
static void pass_stack(const struct record *r)
{
    int kind = r->stack->kind;
    bool is_known = kind >= 0;
    if (is_known && stacks_are_wide() && !touched_knew(r->pid)) {
        free(r->stack); /* of somebody else's process */
        return;
    }
    if (is_known)
        kernel_count(kind, r->stack->call);
    for (const struct record *f = r; !is_known && f-- > faults.pending && f->time + LATE_NS >= r->time;)
        if (f->type == PERF_RECORD_SAMPLE && f->pid == r->pid && f->address / 4096 == r->address / 4096)
            kind = f->parent;
    if (kind < 0 && !is_known && faults.period > 1) /* its own record is one of those that were not made */
        kind = touched_likely(r->pid, r->address);
    if (kind >= 0)
        stacks_write(r->stack, r->pid, kind, (uint32_t)r->parent);
    free(r->stack);
}

/* Whether another thread has just had a fault on the same page: both came before the page was there. */
static bool is_raced(const struct record *r)
{
    uint64_t page = r->bytes >= BLOCK ? BLOCK : 4096;
    for (const struct record *f = r; f-- > faults.pending && f->time + RACE_NS >= r->time;)
        if (f->type == PERF_RECORD_SAMPLE && f->pid == r->pid && f->thread != r->thread &&
            f->address / page == r->address / page)
            return true;
    return false;
}

/* Whether a record is of a process that is not followed, nor its parent. */
static bool is_of_others(const struct record *r)
{
    return sees_others() && r->type != STACK && !touched_knew(r->type == PERF_RECORD_FORK ? r->parent : r->pid);
}

static void pass_on(struct record *r)
{
    if (is_of_others(r)) {
        if (r->type == PERF_RECORD_MMAP2)
            free(r->path);
        return;
    }
    switch (r->type) {
    case PERF_RECORD_SAMPLE: {
        struct page_fault fault = {r->address, r->bytes, r->direction, r->flag, is_raced(r)};
        r->parent = touched_fault(r->pid, &fault);
        break;
    }
    case STACK: pass_stack(r); break;
    case CALL:
        touched_call(r->pid, r->call);
        free(r->call);
        break;
    case PERF_RECORD_COMM:
        touched_exec(r->pid);
        stacks_exec(r->pid);
        break;
    case PERF_RECORD_FORK:
        touched_fork(r->parent, r->pid);
        if (r->parent != r->pid)
            stacks_fork(r->parent, r->pid);
        break;
    case PERF_RECORD_EXIT: touched_exit(r->pid); break;
    default:
        touched_map(r->pid, r->address, r->bytes, r->flag, r->name);
        if (r->path)
            stacks_map(r->pid, r->address, r->bytes, r->offset, r->path);
        free(r->path);
    }
}

/* Reads all rings, then takes what happened before `until`: later records of another processor may still come in. */
static void read_until(uint64_t until)
{
    for (int i = 0; i < faults.cpus; i++)
        read_ring(faults.ring[i]);
    if (faults.has_stacks)
        stacks_read(take_stack);
    qsort(faults.pending, faults.count, sizeof *faults.pending, by_time);
    size_t done = 0, at = 0;
    for (; at < faults.count && faults.pending[at].time < until; at++) {
        if (!faults.pending[at].passed)
            pass_on(&faults.pending[at]);
        faults.pending[at].passed = true;
    }
    while (done < at && faults.pending[done].time + LATE_NS < until) /* younger ones may still be looked for */
        done++;
    memmove(faults.pending, faults.pending + done, (faults.count - done) * sizeof *faults.pending);
    faults.count -= done;
}

void faults_read(void)
{
    if (faults.follows)
        read_until(now_ns() - BACK_NS);
}

/* A count of records as one of faults, where not each fault was recorded. */
static uint64_t scaled(uint64_t records)
{
    return faults.period > 1 ? records * faults.period : records;
}

static void print_count(const char *name, uint64_t count)
{
    printf(",\"%s\":%llu", name, (unsigned long long)count);
}

void faults_print(void)
{
    if (!faults.follows) {
        printf(",\"%s\":\"%s\"", faults.clock_ns ? "kernel_unseen" : "faults_unseen", faults.reason);
        return;
    }
    if (faults.clock_ns) {
        read_until(UINT64_MAX);
        kernel_print(faults.clock_ns, stacks_lost(), stacks_are_wide());
        stacks_print();
        return;
    }
    for (int i = 0; faults.attached && i < faults.cpus; i++) /* it goes on and would be counted on */
        ioctl(faults.fd[i], PERF_EVENT_IOC_DISABLE, 0);
    read_until(UINT64_MAX);
    uint64_t counted = 0, one;
    for (int i = 0; i < faults.cpus; i++)
        counted += read(faults.fd[i], &one, sizeof one) == sizeof one ? one : 0;
    const struct touched *t = &touched;
    printf(",\"faults\":{\"in_kernel_seen\":%s", faults.in_kernel ? "true" : "false");
    print_count("counted", counted);
    print_count("samples", faults.samples);
    if (faults.period > 1)
        print_count("period", faults.period);
    print_count("lost", faults.lost);
    print_count("heap", scaled(t->heap));
    print_count("anonymous", scaled(t->anonymous));
    print_count("stack", scaled(t->stack));
    print_count("shared", scaled(t->shared));
    print_count("again", scaled(t->again));
    print_count("again_malloc", scaled(t->again_malloc));
    print_count("huge_in_order", scaled(t->huge_in_order));
    print_count("again_huge", scaled(t->again_huge));
    print_count("malloc_writes", scaled(t->malloc_writes));
    print_count("zero-read", scaled(t->zero_read));
    print_count("zero-write", scaled(t->zero_write));
    print_count("cow", scaled(t->cow));
    print_count("file", scaled(t->file));
    print_count("file-write", scaled(t->file_write));
    print_count("huge", scaled(t->huge));
    print_count("elsewhere", scaled(t->elsewhere));
    print_count("in-calls", scaled(t->in_calls));
    print_count("raced", scaled(t->raced));
    print_count("unused_pages", faults.period > 1 ? 0 : t->unused_pages); /* of a block, most touches are not seen then */;
    print_count("malloc_blocks", t->malloc_blocks);
    print_count("malloc_faults", scaled(t->malloc_faults));
    print_count("other_blocks", t->other_blocks);
    print_count("other_faults", scaled(t->other_faults));
    print_count("processes", t->processes);
    print_count("threads", t->threads);
    print_count("unknown_direction", scaled(t->unknown_direction));
    static const char *const calls[MAPPING_CALLS] = {"mmap", "munmap", "mremap", "madvise", "brk"};
    printf(",\"java\":%s", t->java ? "true" : "false");
    if (t->calls[CALL_MAP] + t->calls[CALL_BREAK]) {
        printf(",\"calls\":{\"returned_bytes\":%llu", (unsigned long long)t->returned_bytes);
        print_count("moved_bytes", t->moved_bytes);
        for (int i = 0; i < MAPPING_CALLS; i++)
            print_count(calls[i], t->calls[i]);
        if (t->lazy_calls)
            print_count("madvise(MADV_FREE)", t->lazy_calls);
        printf("}");
    }
    printf("}");
    stacks_print();
}
