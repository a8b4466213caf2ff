#include "allocate.h"

static const char *block; /* of this slot */

/* One byte into each page: a block from calloc is zero already, it only is not there yet. A page belongs to the part in which
 * it begins. */
static void touch(const struct part *part)
{
    volatile char *p = part->start;
    size_t bytes = part->bytes, page = part->page_bytes, first = (page - (uintptr_t)p % page) % page;
    char value = part->mark;
    if (part->start == block && first)
        p[0] = value;
    for (size_t i = first; i < bytes; i += page)
        p[i] = value;
}

static void *get_calloc(struct slot *s)
{
    return calloc(1, s->bytes);
}

static void run(struct slot *s)
{
    allocate_malloc(s, NULL, NULL);
    allocate_begin(s);
    size_t bytes = s->bytes;
    char *p, mark = refill_mark(s);
    struct before last = allocate_before(s, get_calloc, give_free);
    PHASE(s, "allocate") {
        free(last.block);
        p = calloc(1, bytes);
    }
    allocate_check(s, p, "calloc");
    block = p;
    PARALLEL_PHASE(s, "fill") { on_every_thread(s, touch, p, bytes, mark); }
    allocate_glibc(s, p);
    allocate_filled(s, p, mark, true);
    PHASE(s, "refill") { memset(p, mark, bytes); }
    allocate_refilled(s, p);
    PHASE(s, "free") { free(p); }
    allocate_end(s);
}

METHOD(allocate_calloc, .experiment = "allocate", .name = "calloc",
       .summary = "calloc, which need not clear what the kernel gives zeroed; fill then writes one byte to each page.",
       .phases = ALLOCATE_PHASES, .keys = ZEROED_KEYS, .memory = "bytes", .isolation = "fresh",
       .laws = FILLED_LAWS "; " GLIBC_LAWS "; " GLIBC_MMAP_LAWS "; " MALLOC_FAULT_LAWS("fill") "; " BACKING_LAWS("fill"),
       .calls = "allocate:getrandom?,brk?,mmap?,munmap? free:brk?,munmap?", .run = run);
