/* What kind each page fault was. A mapping's end is not told by the kernel, so that memory was given back is inferred: its page
 * faults once more, in a process that has not forked since. */
#include "touched.h"
#include "core.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

enum { BLOCK = 2 << 20, PAGE = 4096, PAGES = BLOCK / PAGE, CODE = 16, BUCKETS = 1024, DIRECTIONS = 1 << 14 };

enum kind { NOTHING, ANONYMOUS, MALLOC, HEAP, STACK, SHARED, FILE_BACKED };
enum state { UNTOUCHED, ZERO, OWN, FORKED, BEFORE = 4 }; /* BEFORE is added where the page was touched in an earlier life */

struct mapping {
    uint64_t start, end;
    enum kind kind;
};

/* A stretch of 2 MiB of one process. */
struct block {
    struct block *next;
    uint64_t number;
    bool begun, would_be_huge, is_malloc;
    uint8_t page[PAGES];
};

struct process {
    struct process *next;
    pid_t pid;
    int threads;
    bool has_libc; /* whose mmap a preloaded library can stand in for */
    uint64_t heap_start;
    struct mapping *mappings;
    int count, room;
    struct block *blocks[BUCKETS];
};

struct touched touched;
static struct process *processes[BUCKETS];
static struct {
    uint64_t ip;
    pid_t pid;
    uint8_t direction;
} directions[DIRECTIONS];

static struct process **entry_of(pid_t pid)
{
    struct process **at = &processes[(unsigned)pid % BUCKETS];
    while (*at && (*at)->pid != pid)
        at = &(*at)->next;
    return at;
}

static struct process *process_of(pid_t pid)
{
    struct process **at = entry_of(pid);
    if (!*at && (*at = calloc(1, sizeof **at))) {
        (*at)->pid = pid;
        (*at)->threads = 1;
        touched.processes++;
    }
    return *at;
}

static void forget_blocks(struct process *p)
{
    for (int i = 0; i < BUCKETS; i++)
        for (struct block *b = p->blocks[i], *next; b; b = next) {
            next = b->next;
            free(b);
        }
    memset(p->blocks, 0, sizeof p->blocks);
}

void touched_fork(pid_t parent, pid_t child)
{
    struct process *from = process_of(parent);
    if (!from)
        return;
    if (parent == child) {
        from->threads++;
        return;
    }
    struct process *to = process_of(child);
    if (!to)
        return;
    forget_blocks(to);
    to->heap_start = from->heap_start;
    to->has_libc = from->has_libc;
    free(to->mappings);
    to->mappings = malloc((size_t)(from->count + 1) * sizeof *to->mappings);
    to->count = to->room = to->mappings ? from->count : 0;
    if (to->mappings)
        memcpy(to->mappings, from->mappings, (size_t)to->count * sizeof *to->mappings);
    for (int i = 0; i < BUCKETS; i++)
        for (struct block *b = from->blocks[i]; b; b = b->next) {
            for (int page = 0; page < PAGES; page++)
                if ((b->page[page] & 3) == OWN)
                    b->page[page] = FORKED;
            struct block *copy = malloc(sizeof *copy);
            if (!copy)
                continue;
            *copy = *b;
            copy->next = to->blocks[i];
            to->blocks[i] = copy;
        }
}

void touched_exec(pid_t pid)
{
    struct process *p = process_of(pid);
    if (!p)
        return;
    forget_blocks(p);
    p->count = 0;
    p->has_libc = false;
    p->threads = 1;
    p->heap_start = 0;
}

void touched_exit(pid_t pid)
{
    struct process **at = entry_of(pid), *p = *at;
    if (!p || --p->threads > 0)
        return;
    *at = p->next;
    forget_blocks(p);
    free(p->mappings);
    free(p);
}

static enum kind kind_of(uint64_t bytes, bool is_shared, const char *name)
{
    if (strncmp(name, "[heap", 5) == 0)
        return HEAP;
    if (strncmp(name, "[stack", 6) == 0)
        return STACK;
    bool has_file = name[0] == '/' && strncmp(name, "//anon", 6) != 0 && strncmp(name, "/dev/zero", 9) != 0;
    if (is_shared)
        return has_file && strncmp(name, "/memfd:", 7) != 0 && strncmp(name, "/dev/shm/", 9) != 0 ? FILE_BACKED : SHARED;
    /* glibc's malloc adds its header and rounds up to a page; other allocators, runtimes and stacks take round sizes. */
    return has_file ? FILE_BACKED : bytes % (16 * PAGE) != 0 ? MALLOC : ANONYMOUS;
}

/* Puts the new mapping over whatever was there. */
void touched_map(pid_t pid, uint64_t start, uint64_t bytes, bool is_shared, const char *name)
{
    struct process *p = process_of(pid);
    if (!p || !bytes)
        return;
    struct mapping added = {start, start + bytes, kind_of(bytes, is_shared, name)};
    p->has_libc |= strstr(name, "/libc.so") || strstr(name, "/libc-") || strstr(name, "/ld-musl");
    touched.java |= strstr(name, "/libjvm.so") != NULL;
    if (added.kind == HEAP && (!p->heap_start || start < p->heap_start))
        p->heap_start = start;
    if (p->room < p->count + 3) {
        struct mapping *more = realloc(p->mappings, (size_t)(p->room = 2 * p->room + 64) * sizeof *more);
        if (!more)
            return;
        p->mappings = more;
    }
    /* Mappings are sorted and do not overlap: those from `first` to before `last` are touched by the new one. */
    int first = 0, last;
    while (first < p->count && p->mappings[first].end <= added.start)
        first++;
    for (last = first; last < p->count && p->mappings[last].start < added.end; last++)
        ;
    struct mapping parts[3];
    int count = 0;
    if (first < last && p->mappings[first].start < added.start)
        parts[count++] = (struct mapping){p->mappings[first].start, added.start, p->mappings[first].kind};
    parts[count++] = added;
    if (first < last && p->mappings[last - 1].end > added.end)
        parts[count++] = (struct mapping){added.end, p->mappings[last - 1].end, p->mappings[last - 1].kind};
    memmove(p->mappings + first + count, p->mappings + last, (size_t)(p->count - last) * sizeof *parts);
    memcpy(p->mappings + first, parts, (size_t)count * sizeof *parts);
    p->count += count - (last - first);
}

static const struct mapping *mapping_at(const struct process *p, uint64_t address)
{
    int low = 0, high = p->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < p->count && p->mappings[low].start <= address)
        return &p->mappings[low];
    /* A stack grows downwards into what was no mapping. */
    return low < p->count && p->mappings[low].kind == STACK ? &p->mappings[low] : NULL;
}

static struct block *block_of(struct process *p, uint64_t number)
{
    struct block **at = &p->blocks[number % BUCKETS];
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (!*at && (*at = calloc(1, sizeof **at)))
        (*at)->number = number;
    return *at;
}

/* The code of one place is read once for each process; where the process has gone, another's at the same place is taken. */
enum direction touched_direction(pid_t pid, uint64_t ip)
{
    unsigned at = (unsigned)((ip * 0x9E3779B97F4A7C15u) >> 50);
    if (directions[at].ip == ip && directions[at].pid == pid)
        return directions[at].direction;
    unsigned char code[CODE];
    struct iovec here = {code, CODE}, there = {(void *)ip, CODE};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got < CODE) {
        there.iov_len = PAGE - ip % PAGE; /* up to the end of its page */
        got = there.iov_len < CODE ? process_vm_readv(pid, &here, 1, &there, 1, 0) : got;
    }
    if (got <= 0 && directions[at].ip == ip)
        return directions[at].direction;
    enum direction found = got > 0 ? direction_of(code, (size_t)got) : DIRECTION_UNKNOWN;
    if (found == DIRECTION_UNKNOWN)
        return found;
    directions[at].ip = ip;
    directions[at].pid = pid;
    directions[at].direction = (uint8_t)found;
    return found;
}

/* Whether the block's first touch would have given a huge page, had its mapping been advised. A program that maps without a
 * libc (Go's) cannot be made to. The heap would end at a block's
 * end: glibc then asks for whole blocks. */
static bool covers(const struct process *p, const struct mapping *m, uint64_t number)
{
    uint64_t start = number * BLOCK;
    if (m->kind == HEAP)
        return start >= p->heap_start;
    bool advised = m->kind == MALLOC || (m->kind == ANONYMOUS && p->has_libc);
    return advised && m->start <= start && m->end >= start + BLOCK;
}

/* Whether an advised block would have saved this fault. */
static void simulate(const struct process *p, const struct mapping *m, struct block *b, bool touched_before)
{
    if (!b->begun || touched_before) {
        if (touched_before) /* another life of the block begins */
            for (int i = 0; i < PAGES; i++)
                b->page[i] = b->page[i] ? BEFORE : UNTOUCHED;
        b->begun = true;
        b->would_be_huge = covers(p, m, b->number);
        b->is_malloc = m->kind == MALLOC || m->kind == HEAP;
        if (b->would_be_huge)
            ++*(b->is_malloc ? &touched.malloc_blocks : &touched.other_blocks);
    }
    if (b->would_be_huge)
        ++*(b->is_malloc ? &touched.malloc_faults : &touched.other_faults);
}

static uint64_t *first_write(enum kind kind)
{
    return kind == HEAP     ? &touched.heap
           : kind == STACK  ? &touched.stack
           : kind == SHARED ? &touched.shared
                            : &touched.anonymous;
}

/* A fault on a base page of memory without a file. */
static uint64_t *fault_on(const struct process *p, const struct mapping *m, struct block *b, uint8_t *page, enum direction d)
{
    uint8_t state = *page & 3;
    if (state == FORKED) {
        *page = OWN;
        return &touched.cow;
    }
    if (state == ZERO) {
        if (d == DIRECTION_READ)
            return &touched.zero_read;
        *page = OWN;
        if (b->would_be_huge)
            ++*(b->is_malloc ? &touched.malloc_faults : &touched.other_faults);
        return &touched.zero_write;
    }
    bool before = state == OWN || (*page & BEFORE);
    simulate(p, m, b, state == OWN);
    *page = d == DIRECTION_READ ? ZERO : OWN;
    if (d == DIRECTION_READ)
        return &touched.zero_read;
    bool is_malloc = m->kind == MALLOC || m->kind == HEAP;
    touched.malloc_writes += is_malloc;
    if (!before)
        return first_write(m->kind);
    touched.again_malloc += is_malloc;
    return &touched.again;
}

int touched_fault(pid_t pid, uint64_t address, enum direction d, uint64_t page_bytes, bool in_kernel)
{
    struct process *p = process_of(pid);
    const struct mapping *m = p ? mapping_at(p, address) : NULL;
    uint64_t *counter = &touched.elsewhere;
    if (m && m->kind == FILE_BACKED) {
        counter = d == DIRECTION_WRITE && !in_kernel ? &touched.file_write : &touched.file;
    } else if (m) {
        struct block *b = block_of(p, address / BLOCK);
        if (!b)
            return -1;
        touched.unknown_direction += !in_kernel && d == DIRECTION_UNKNOWN;
        if (page_bytes >= BLOCK) {
            memset(b->page, OWN, PAGES);
            b->begun = true;
            b->would_be_huge = false;
            counter = &touched.huge;
        } else {
            counter = fault_on(p, m, b, &b->page[address % BLOCK / PAGE], d);
        }
    }
    if (in_kernel)
        counter = &touched.in_calls;
    ++*counter;
    return (int)(counter - &touched.heap);
}
