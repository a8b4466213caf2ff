#include "heap.h"
#include "objects.h"

/* No allocator at all: the objects lie one behind the other in memory that is there; what is left is drawing and writing. */
static void run(struct slot *s)
{
    static struct heap h;
    size_t bytes = s->bytes, turns;
    h = (struct heap){0};
    objects_open(s, &h);
    char *p = mmap(NULL, bytes + LARGEST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p);
    memset(p, tag_of(0), bytes + LARGEST); /* also maps the code of both, whose first call would fault */
    static struct heap rehearsal; /* not on the stack: it takes pages of it that the clock would find untouched */
    rehearsal = h;
    for (uint64_t sum = 0; sum < bytes; h.count++) {
        uint32_t size = rehearsal.sizes[draw(&rehearsal, QUANTILES)];
        memset(p, 1, size); /* small sizes take another part of it, on another page of code */
        sum += size;
    }
    s->ops = h.count;
    PHASE(s, "build") {
        char *next = p;
        for (size_t i = 0; i < h.count; i++) {
            h.objects[i] = (struct object){next, h.sizes[draw(&h, QUANTILES)]};
            memset(next, tag_of(i), h.objects[i].size);
            next += h.objects[i].size;
        }
    }
    objects_check(&h);
    fact(s, "live_bytes", h.live_bytes);
    s->ops = turns = h.count * key_size(s, "turnover");
    PHASE(s, "churn") {
        for (size_t i = 0; i < turns; i++) {
            size_t which = draw(&h, h.count);
            (void)*(volatile uint32_t *)&h.sizes[draw(&h, QUANTILES)];
            memset(h.objects[which].p, tag_of(which), h.objects[which].size);
        }
    }
    objects_check(&h);
    fact(s, "wrong_objects", h.wrong);
    munmap(p, bytes + LARGEST);
    objects_close(&h);
}

METHOD(heap_limit, .experiment = "heap", .name = "limit", .role = "limit",
       .summary = "The same draws and the same writes in resident memory, without any allocator.",
       .phases = "build churn", .keys = HEAP_KEYS, .memory = "3 * bytes + 65536", .isolation = "fresh",
       .laws = "wrong_objects == 0; live_bytes >= bytes; build.minor_faults == 0; churn.minor_faults == 0", .calls = "",
       .run = run);
