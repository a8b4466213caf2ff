/* What kind each page fault was. The kernel's records do not tell of a mapping's end, so that memory was given back is
 * inferred: its page faults once more, in a process that has not forked since. Where calls are seen they say it. */
#include "touched.h"
#include "core.h"
#include "freed.h"
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 2 << 20, PAGE = 4096, PAGES = BLOCK / PAGE, BUCKETS = 1024, MOST_PIDS = 1 << 22 };

enum kind { NOTHING, ANONYMOUS, MALLOC, HEAP, STACK, SHARED, FILE_BACKED };
/* Added to a state: BEFORE where the page was touched in an earlier life, HUGE where a huge page would have moved with it,
 * SPLIT where it was given back alone, so that no huge page would come in its place. */
enum state { UNTOUCHED, ZERO, OWN, FORKED, BEFORE = 4, HUGE = 8, SPLIT = 16 };

struct mapping {
    uint64_t start, end;
    enum kind kind;
    bool advised; /* it would be, with the setting `thp` */
    bool libc;    /* of the C library's file */
    enum kept kept; /* whether it would come, or has grown, from memory that malloc had kept, with the setting `keep` */
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
    bool calls_seen; /* so the kernel's records of merged mappings are not needed */
    uint64_t heap_start;
    struct mapping *mappings;
    int count, room;
    struct freed freed; /* what malloc has given back and would have kept */
    struct block *blocks[BUCKETS];
};

struct touched touched;
static struct process *processes[BUCKETS];
/* As seen on Linux 6.18 a process gives its memory back after its own events have ended. */
static uint8_t known_pids[MOST_PIDS / 8];

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
        if (pid > 0 && pid < MOST_PIDS)
            known_pids[pid / 8] |= (uint8_t)(1 << pid % 8);
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
        touched.threads++;
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
    *p = (struct process){.next = p->next, .pid = pid, .threads = 1, .mappings = p->mappings, .room = p->room};
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

bool touched_knew(pid_t pid)
{
    return pid > 0 && pid < MOST_PIDS && known_pids[pid / 8] & 1 << pid % 8;
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

/* Puts a mapping over whatever was there; of kind NOTHING it is a gap. */
static void put(struct process *p, struct mapping added)
{
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
    if (first < last && p->mappings[first].start < added.start) {
        parts[count] = p->mappings[first];
        parts[count++].end = added.start;
    }
    if (added.kind != NOTHING)
        parts[count++] = added;
    if (first < last && p->mappings[last - 1].end > added.end) {
        parts[count] = p->mappings[last - 1];
        parts[count++].start = added.end;
    }
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

/* The end of the heap, whose parts may be several mappings; 0 where there is none. */
static uint64_t end_of_heap(const struct process *p)
{
    const struct mapping *heap = p->heap_start ? mapping_at(p, p->heap_start) : NULL;
    for (; heap && heap + 1 < p->mappings + p->count && heap[1].kind == HEAP; heap++)
        ;
    return heap && heap->kind == HEAP ? heap->end : 0;
}

/* A program that maps without a libc (Go's) cannot be made to ask for huge pages. */
static bool would_advise(const struct process *p, enum kind kind, uint64_t bytes)
{
    return bytes >= BLOCK && (kind == MALLOC || (kind == ANONYMOUS && p->has_libc));
}

void touched_map(pid_t pid, uint64_t start, uint64_t bytes, bool is_shared, const char *name)
{
    struct process *p = process_of(pid);
    if (!p || !bytes)
        return;
    enum kind kind = kind_of(bytes, is_shared, name);
    bool libc = strstr(name, "/libc.so") || strstr(name, "/libc-") || strstr(name, "/ld-musl");
    p->has_libc |= libc;
    touched.java |= strstr(name, "/libjvm.so") != NULL;
    if (p->calls_seen && (kind == MALLOC || kind == ANONYMOUS))
        return;
    if (kind == HEAP && (!p->heap_start || start < p->heap_start))
        p->heap_start = start;
    uint64_t end = start + bytes, heap_end = kind == HEAP && p->calls_seen ? end_of_heap(p) : 0;
    bool grows = kind == HEAP && p->calls_seen && heap_end < end; /* the record has all of it */
    start = start < heap_end && grows ? heap_end : start;
    enum kept kept = grows ? freed_grow(&p->freed, end - start) : NOT_KEPT;
    put(p, (struct mapping){start, end, kind, would_advise(p, kind, bytes), libc, kept});
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

/* The block, if anything of it was touched. */
static struct block *touched_block(const struct process *p, uint64_t number)
{
    struct block *b = p->blocks[number % BUCKETS];
    while (b && b->number != number)
        b = b->next;
    return b;
}

/* What the pages of a range held is gone. A block of which nothing is left begins anew. */
static void give_back(struct process *p, uint64_t start, uint64_t end)
{
    for (uint64_t number = start / BLOCK; number * BLOCK < end; number++) {
        struct block *b = touched_block(p, number);
        uint64_t from = number * BLOCK < start ? start % BLOCK / PAGE : 0;
        uint64_t to = end < (number + 1) * BLOCK ? (end % BLOCK + PAGE - 1) / PAGE : PAGES;
        bool any = false;
        for (uint64_t i = 0; b && i < PAGES; i++) {
            if (i >= from && i < to)
                b->page[i] = b->page[i] || b->would_be_huge ? (b->page[i] ? BEFORE : 0) | SPLIT : UNTOUCHED;
            any |= (b->page[i] & 3) != 0;
        }
        if (!b || any)
            continue;
        b->begun = b->would_be_huge = false;
        for (int i = 0; i < PAGES; i++)
            b->page[i] &= BEFORE;
    }
}

/* Malloc gives this range back. */
static void give_to_freed(struct process *p, uint64_t start, uint64_t bytes)
{
    uint64_t pages[4] = {0};
    for (uint64_t at = start; at < start + bytes; at += PAGE) {
        const struct block *b = touched_block(p, at / BLOCK);
        if (b)
            pages[b->page[at % BLOCK / PAGE] & 3]++;
        else
            at += BLOCK - PAGE - at % BLOCK;
    }
    touched.unused_pages += bytes / PAGE - pages[ZERO] - pages[OWN] - pages[FORKED];
    freed_add(&p->freed, bytes, pages[ZERO] > pages[OWN] + pages[FORKED]);
}

static void unmap(struct process *p, uint64_t start, uint64_t bytes)
{
    const struct mapping *m = mapping_at(p, start);
    if (m && m->kind == MALLOC && m->start == start && m->end == start + bytes) /* what is trimmed is no block */
        give_to_freed(p, start, bytes);
    give_back(p, start, start + bytes);
    put(p, (struct mapping){.start = start, .end = start + bytes, .kind = NOTHING});
    touched.returned_bytes += bytes;
}

/* Moves the pages of a range with what is known of them. */
static void move(struct process *p, uint64_t from, uint64_t to, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PAGE) {
        struct block *b = touched_block(p, (from + at) / BLOCK);
        if (!b) {
            at += BLOCK - PAGE - (from + at) % BLOCK;
            continue;
        }
        uint8_t *page = &b->page[(from + at) % BLOCK / PAGE];
        uint8_t state = (uint8_t)((*page & ~SPLIT) | (b->would_be_huge && !(*page & (3 | SPLIT)) ? HUGE : 0));
        *page = UNTOUCHED;
        struct block *into = state ? block_of(p, (to + at) / BLOCK) : NULL;
        if (into) {
            into->page[(to + at) % BLOCK / PAGE] = state;
            into->begun = true; /* base pages are there: no huge page would come */
        }
    }
    touched.moved_bytes += bytes;
}

/* Whether a preloaded library could stand in for the call: not where a runtime (Go's) calls the kernel itself. */
static bool is_through_libc(const struct process *p, const struct mapping_call *c)
{
    const struct mapping *code = p->has_libc ? mapping_at(p, c->instruction) : NULL;
    return !p->has_libc || (code && code->libc);
}

static void remap(struct process *p, const struct mapping_call *c)
{
    const struct mapping *at = mapping_at(p, c->start);
    struct mapping m = at ? *at : (struct mapping){.kind = ANONYMOUS};
    if (m.kind == FILE_BACKED || m.kind == SHARED)
        return;
    uint64_t kept = c->bytes < c->to_bytes ? c->bytes : c->to_bytes;
    if (kept < c->bytes && m.kind == MALLOC)
        give_to_freed(p, c->start + kept, c->bytes - kept);
    if (kept < c->bytes)
        unmap(p, c->start + kept, c->bytes - kept);
    if (c->to != c->start) {
        give_back(p, c->to, c->to + c->to_bytes);
        move(p, c->start, c->to, kept);
        put(p, (struct mapping){.start = c->start, .end = c->start + kept, .kind = NOTHING});
    }
    m.start = c->to;
    m.end = c->to + c->to_bytes;
    m.advised = would_advise(p, m.kind, c->to_bytes) && is_through_libc(p, c);
    /* What is written from now on is the grown part, for the most part. */
    m.kept = kept < c->to_bytes && m.kind == MALLOC ? freed_take(&p->freed, c->to_bytes - kept) : NOT_KEPT;
    put(p, m);
}

/* Whose mapping it is: the first word of the caller's stack that points into a file's mapping points to who called mmap. */
static enum kind kind_of_call(const struct process *p, const struct mapping_call *c)
{
    for (int i = 0; i < CALLER_WORDS && p->has_libc; i++) {
        const struct mapping *m = mapping_at(p, c->stack[i]);
        if (m && m->kind == FILE_BACKED)
            return m->libc ? MALLOC : ANONYMOUS;
    }
    return kind_of(c->bytes, false, "");
}

static void advise(struct process *p, const struct mapping_call *c)
{
    const struct mapping *at = mapping_at(p, c->start);
    touched.lazy_calls += c->advice == MADV_FREE;
    if (!at || at->kind == FILE_BACKED)
        return;
    if (c->advice == MADV_DONTNEED) {
        give_back(p, c->start, c->start + c->bytes);
        touched.returned_bytes += c->bytes;
    } else if (c->advice == MADV_NOHUGEPAGE && at->kind != HEAP) {
        struct mapping plain = {.start = c->start, .end = c->start + c->bytes, .kind = at->kind, .kept = at->kept};
        put(p, plain);
    }
}

/* The heap's end has moved, to what is no page's first byte for the most part. */
static void move_end(struct process *p, uint64_t end)
{
    uint64_t wanted = (end + PAGE - 1) / PAGE * PAGE, heap_end = end_of_heap(p);
    if (wanted <= p->heap_start || wanted >= heap_end)
        return;
    give_to_freed(p, wanted, heap_end - wanted);
    unmap(p, wanted, heap_end - wanted);
}

void touched_call(pid_t pid, const struct mapping_call *c)
{
    struct process *p = process_of(pid);
    if (!p)
        return;
    p->calls_seen = true;
    touched.calls[c->kind]++;
    uint64_t bytes = (c->bytes + PAGE - 1) / PAGE * PAGE;
    switch (c->kind) {
    case CALL_MAP: {
        enum kind kind = c->is_stack ? ANONYMOUS : kind_of_call(p, c);
        give_back(p, c->to, c->to + bytes);
        enum kept kept = kind == MALLOC ? freed_take(&p->freed, bytes) : NOT_KEPT;
        bool advised = !c->is_stack && would_advise(p, kind, bytes) && is_through_libc(p, c);
        put(p, (struct mapping){c->to, c->to + bytes, kind, advised, false, kept});
        break;
    }
    case CALL_UNMAP: unmap(p, c->start, bytes); break;
    case CALL_REMAP: remap(p, c); break;
    case CALL_ADVISE: advise(p, c); break;
    default: move_end(p, c->start);
    }
}

/* Whether the block's first touch would have given a huge page, had its mapping been advised: it, or its neighbours with it,
 * cover the block. The heap would end at a block's end: glibc then asks for whole blocks. */
static bool covers(const struct process *p, const struct mapping *m, uint64_t number)
{
    uint64_t start = number * BLOCK, end = start + BLOCK;
    if (m->kind == HEAP)
        return start >= p->heap_start;
    const struct mapping *low = m, *high = m;
    while (low->start > start && low > p->mappings && low[-1].advised && low[-1].end == low->start)
        low--;
    while (high->end < end && high + 1 < p->mappings + p->count && high[1].advised && high[1].start == high->end)
        high++;
    return m->advised && low->start <= start && high->end >= end;
}

static uint64_t *saved_by(const struct mapping *m)
{
    return m->kind == MALLOC || m->kind == HEAP ? &touched.malloc_faults : &touched.other_faults;
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
        ++*saved_by(m);
}

static uint64_t *first_write(enum kind kind)
{
    return kind == HEAP     ? &touched.heap
           : kind == STACK  ? &touched.stack
           : kind == SHARED ? &touched.shared
                            : &touched.anonymous;
}

/* True for a fault that there would not be if malloc kept memory; `before` where the page was touched in an earlier life. */
static bool keep_spares(const struct process *p, const struct mapping *m, bool before)
{
    bool is_malloc = m->kind == MALLOC || m->kind == HEAP;
    return m->kept == KEPT || (is_malloc && before && !(p->calls_seen && m->kind == MALLOC));
}

/* A fault on a base page of memory without a file. */
static uint64_t *fault_on(const struct process *p, const struct mapping *m, struct block *b, const struct page_fault *f)
{
    uint8_t *page = &b->page[f->address % BLOCK / PAGE], state = *page & 3;
    enum direction d = f->direction;
    if (m->kind == SHARED && !(state == OWN && f->raced)) {
        *page = OWN; /* also where it was read, and in a forked child: there is no zero page and no copy */
        return &touched.shared;
    }
    /* Where calls are seen nothing is given back without one: another thread had the page first, however long ago. */
    if (state == OWN && (f->raced || (p->calls_seen && p->threads > 1)))
        return &touched.raced;
    if (state == FORKED) {
        *page = OWN;
        return &touched.cow;
    }
    if (state == ZERO) {
        if (d == DIRECTION_READ)
            return &touched.zero_read;
        *page = OWN;
        if (b->would_be_huge)
            ++*saved_by(m);
        touched.again_malloc += m->kept == KEPT;
        return &touched.zero_write;
    }
    bool before = state == OWN || (*page & BEFORE);
    if (*page & HUGE) {
        b->begun = true;
        ++*saved_by(m);
    } else if (!(*page & SPLIT)) {
        simulate(p, m, b, state == OWN);
    }
    *page = d == DIRECTION_READ ? ZERO : OWN;
    if (d == DIRECTION_READ) {
        touched.again_malloc += m->kept == KEPT;
        return &touched.zero_read;
    }
    touched.malloc_writes += m->kind == MALLOC || m->kind == HEAP;
    touched.again_malloc += keep_spares(p, m, before);
    return before ? &touched.again : first_write(m->kind);
}

void touched_before(pid_t pid, uint64_t address, bool exclusive)
{
    struct process *p = process_of(pid);
    struct block *b = p ? block_of(p, address / BLOCK) : NULL;
    if (!b)
        return;
    b->page[address % BLOCK / PAGE] = exclusive ? OWN : FORKED;
    b->begun = true;
}

int touched_fault(pid_t pid, const struct page_fault *f)
{
    struct process *p = process_of(pid);
    const struct mapping *m = p ? mapping_at(p, f->address) : NULL;
    uint64_t *counter = &touched.elsewhere;
    bool in_kernel = f->in_kernel;
    if (m && m->kind == FILE_BACKED) {
        counter = f->direction == DIRECTION_WRITE && !in_kernel ? &touched.file_write : &touched.file;
    } else if (m) {
        struct block *b = block_of(p, f->address / BLOCK);
        if (!b)
            return -1;
        touched.unknown_direction += !in_kernel && f->direction == DIRECTION_UNKNOWN;
        if (f->page_bytes >= BLOCK && f->raced && (b->page[f->address % BLOCK / PAGE] & 3) == OWN) {
            counter = &touched.raced;
        } else if (f->page_bytes >= BLOCK) {
            const struct block *below = f->address >= BLOCK ? touched_block(p, f->address / BLOCK - 1) : NULL;
            touched.huge_in_order += below && below->page[PAGES - 1] == OWN;
            touched.again_huge += keep_spares(p, m, b->page[f->address % BLOCK / PAGE] & BEFORE);
            memset(b->page, OWN, PAGES);
            b->begun = true;
            b->would_be_huge = false;
            counter = &touched.huge;
        } else {
            counter = fault_on(p, m, b, f);
        }
    }
    counter = in_kernel ? &touched.in_calls : counter;
    ++*counter;
    return (int)(counter - &touched.heap);
}

int touched_likely(pid_t pid, uint64_t address)
{
    struct process *p = process_of(pid);
    const struct mapping *m = p ? mapping_at(p, address) : NULL;
    struct block *b = m && m->kind != FILE_BACKED ? block_of(p, address / BLOCK) : NULL;
    uint8_t page = b ? b->page[address % BLOCK / PAGE] : UNTOUCHED, state = page & 3;
    uint64_t *counter = !m ? &touched.elsewhere : m->kind == FILE_BACKED ? &touched.file : state == FORKED ? &touched.cow
                      : state == OWN || (page & BEFORE) ? &touched.again : first_write(m->kind);
    return (int)(counter - &touched.heap);
}
