#include "interference.h"
#include "methods/output/ring.h"

enum { DEPTH = 8 };
static size_t *places, places_bytes;

static void use_step(void *owner, size_t i)
{
    struct scan *w = owner;
    scan_use(w, w->buffer + i % DEPTH * STEP_BYTES, STEP_BYTES);
}

/* Where each step lies in the file. */
static void list_places(struct slot *s, size_t bytes)
{
    size_t wanted = bytes / STEP_BYTES * sizeof *places;
    if (places && places_bytes == wanted)
        return;
    if (places)
        munmap(places, places_bytes);
    places_bytes = wanted;
    places = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, places);
    for (size_t i = 0; i < bytes / STEP_BYTES; i++)
        places[i] = i * STEP_BYTES;
}

static SHARED_BODY void run(struct slot *s, int flags)
{
    static char *buffers;
    steps_ring_possible(s);
    if (!buffers)
        buffers = mmap(NULL, DEPTH * STEP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, buffers);
    list_places(s, s->bytes);
    struct scan w = scan_begin(s, flags);
    struct steps_ring ring;
    w.buffer = buffers;
    struct steps steps = {.file = w.file, .memory = buffers, .at = places, .bytes = w.bytes, .step = STEP_BYTES, .slots = DEPTH,
                          .depth = DEPTH, .done = use_step, .owner = &w};
    PHASE(s, "work") {
        steps_ring_open(&steps, &ring);
        bool opened = !steps.failed;
        /* A buffer is used again when its step was used, so that a turn is as many steps as there are buffers. */
        for (size_t i = 0; i < w.bytes / STEP_BYTES && !steps.failed; i += DEPTH)
            steps_ring_pass(&steps, &ring, i, i + DEPTH < w.bytes / STEP_BYTES ? i + DEPTH : w.bytes / STEP_BYTES);
        if (opened)
            steps_ring_close(&steps, &ring);
    }
    errno = steps.error;
    if (steps.failed)
        scan_lost(&w, steps.failed);
    scan_end(s, &w);
}

static void buffered(struct slot *s) { run(s, 0); }
METHOD(interference_io_uring, .experiment = "interference", .name = "io_uring",
       .summary = "io_uring, eight reads of a MiB at once, through the page cache.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY " + 8388608",
       .laws = WORK_LAWS SCAN_LAWS, .calls = "work:io_uring_setup,mmap,io_uring_enter,munmap,close,pread64?", .run = buffered);

static void direct(struct slot *s) { run(s, O_DIRECT); }
METHOD(interference_io_uring_direct, .experiment = "interference", .name = "io_uring-direct",
       .summary = "io_uring, eight reads of a MiB at once, with O_DIRECT.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY " + 8388608",
       .laws = WORK_LAWS SCAN_LAWS NOTHING_LEFT_LAW, .calls = "work:io_uring_setup,mmap,io_uring_enter,munmap,close,pread64?",
       .run = direct);
