#include "load.h"

static size_t *places; /* of the steps */
static size_t places_count;

static void make_places(struct slot *s, size_t bytes)
{
    if (places)
        munmap(places, places_count * sizeof *places);
    places_count = (bytes + READ_BYTES - 1) / READ_BYTES;
    places = mmap(NULL, places_count * sizeof *places, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, places);
    for (size_t i = 0; i < places_count; i++)
        places[i] = i * READ_BYTES;
}

static void run(struct slot *s)
{
    need_memory(s);
    struct load l = load_begin(s);
    struct steps_ring ring;
    need_huge_pages(s);
    file_on_device(s, l.folder);
    steps_ring_possible(s);
    make_places(s, l.bytes);
    struct steps steps = {.at = places, .bytes = l.bytes, .step = READ_BYTES, .depth = IN_FLIGHT};
    PHASE(s, "open") {
        load_open(&l, O_DIRECT);
        steps.file = l.file;
        steps_ring_open(&steps, &ring);
    }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_memory(&l, true);
        steps.memory = l.p;
        if (!l.failed) {
            steps_ring_register(&steps, &ring, l.bytes);
            steps_ring_pass(&steps, &ring, 0, places_count);
        }
        errno = steps.error;
        if (steps.failed)
            load_lost(&l, steps.failed);
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") {
        steps_ring_close(&steps, &ring);
        errno = steps.error;
        if (steps.failed)
            load_lost(&l, steps.failed);
        load_drop(&l);
    }
    load_end(s, &l);
}

METHOD(load_io_uring_direct_thp, .experiment = "load", .name = "io_uring-direct-thp",
       .summary = "O_DIRECT reads of 1 MiB by io_uring, eight at once, into registered transparent huge pages.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = HUGE_COPY_LAWS,
       .calls = "open:openat,io_uring_setup,mmap bring:mmap,madvise,io_uring_register,io_uring_enter drop:munmap,close", .run = run);
