/* The untimed halves of the Rust methods of `allocate`. */
#include "methods/allocate/allocate.h"
#include "rust.h"

IN_RUST char *rust_zeros(size_t bytes);
IN_RUST char *rust_room(size_t bytes);
IN_RUST void rust_resize(char *start, size_t bytes);
IN_RUST void rust_fill(char *start, size_t bytes, char value);
IN_RUST void rust_mark(char *start, size_t bytes, size_t page, char value);
IN_RUST void rust_free(char *start, size_t bytes);

static void *get_zeros(struct slot *s)
{
    return rust_zeros(s->bytes);
}

static void *get_room(struct slot *s)
{
    return rust_room(s->bytes);
}

static void give(struct slot *s, void *block)
{
    rust_free(block, s->bytes);
}

static void run(struct slot *s, bool zeros)
{
    if (s->threads > 1)
        skip(s, "one thread fills a Vec");
    allocate_malloc(s, NULL, NULL);
    allocate_begin(s);
    size_t bytes = s->bytes, page = s->page_bytes;
    char *p, mark = refill_mark(s);
    struct before last = allocate_before(s, zeros ? get_zeros : get_room, give);
    PHASE(s, "allocate") {
        p = last.block;
        if (!last.kept) {
            if (last.block)
                rust_free(last.block, bytes);
            p = zeros ? rust_zeros(bytes) : rust_room(bytes);
        }
    }
    allocate_check(s, p, "Vec");
    PHASE(s, "fill") {
        if (zeros)
            rust_mark(p, bytes, page, mark);
        else
            rust_resize(p, bytes);
    }
    allocate_glibc(s, p);
    allocate_filled(s, p, zeros ? mark : 0, zeros);
    PHASE(s, "refill") { rust_fill(p, bytes, mark); }
    allocate_refilled(s, p);
    PHASE(s, "free") { rust_free(p, bytes); }
    allocate_end(s);
}

static void vec_zeros(struct slot *s)
{
    run(s, true);
}

static void vec_resize(struct slot *s)
{
    run(s, false);
}

#define RUST_LAWS                                                                                                      \
    FILLED_LAWS "; " GLIBC_LAWS "; " GLIBC_MMAP_LAWS "; " MALLOC_FAULT_LAWS("fill") "; " BACKING_LAWS("fill")
#define RUST_CALLS "allocate:getrandom?,brk?,mmap?,munmap? free:brk?,munmap?"

METHOD(rust_allocate_zeros, .experiment = "allocate", .name = "vec-zeros",
       .summary = "vec![0; n], which asks the allocator for zeros; fill then stores one byte into each page. Idiomatic.",
       .phases = ALLOCATE_PHASES, .keys = ZEROED_KEYS, .memory = "bytes", .isolation = "fresh", .laws = RUST_LAWS,
       .calls = RUST_CALLS, .run = vec_zeros);

METHOD(rust_allocate_resize, .experiment = "allocate", .name = "vec-resize",
       .summary = "Vec::with_capacity, then resize with zeros: the memory is cleared by the program. Naive.",
       .phases = ALLOCATE_PHASES, .keys = ALLOCATE_KEYS, .memory = "bytes", .isolation = "fresh", .laws = RUST_LAWS,
       .calls = RUST_CALLS, .run = vec_resize);
