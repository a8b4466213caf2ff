#include "methods/fault/userfault.h"
#include "reset.h"

struct watch {
    struct userfault u;
    struct region *r;
    uint32_t *pages;
    _Atomic size_t count;
    _Atomic bool stop, ended;
    _Atomic int error; /* of the thread: nobody answers any more */
};

static bool let_write(const struct watch *w, uint64_t address)
{
    struct uffdio_writeprotect open = {.range = {address, w->u.page}};
    return ioctl(w->u.descriptor, UFFDIO_WRITEPROTECT, &open) == 0;
}

/* Notes each page that is written to and lets the write through; where it cannot, it lets all of them through. */
static void *answer(void *argument)
{
    struct watch *w = argument;
    struct uffd_msg message;
    for (;;) {
        ssize_t got = read(w->u.descriptor, &message, sizeof message);
        if (got < 0 && errno == EINTR && !w->stop)
            continue;
        if (w->stop)
            break;
        errno = got < 0 ? errno : EIO;
        uint64_t page = message.arg.pagefault.address & ~(uint64_t)(w->u.page - 1);
        if (got == sizeof message) {
            w->pages[w->count++] = (uint32_t)((page - (uintptr_t)w->r->p) / w->u.page);
            if (let_write(w, page))
                continue;
        }
        struct uffdio_range all = {(uintptr_t)w->r->p, w->r->bytes};
        w->error = errno;
        ioctl(w->u.descriptor, UFFDIO_UNREGISTER, &all);
        ioctl(w->u.descriptor, UFFDIO_WAKE, &all);
        break;
    }
    w->ended = true;
    return NULL;
}

static void protect(struct region *r)
{
    struct watch *w = r->own;
    struct uffdio_writeprotect all = {.range = {(uintptr_t)r->p, r->bytes}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    w->count = 0;
    if ((errno = w->error) != 0 || ioctl(w->u.descriptor, UFFDIO_WRITEPROTECT, &all) != 0)
        region_lost(r, "read or ioctl UFFDIO_WRITEPROTECT");
}

static void reset(struct region *r)
{
    const struct watch *w = r->own;
    restore_noted(r, w->pages, w->count);
    protect(r);
}

static void run(struct slot *s)
{
    static struct watch w; /* where the slot ends early, the thread is there still */
    w = (struct watch){0};
    size_t room = s->bytes / s->page_bytes * sizeof *w.pages;
    if (key_size(s, "running") > 1)
        skip(s, "the thread that answers needs a CPU besides those of the running threads");
    need_base_pages(s);
    userfault_open(s, &w.u, UFFD_FEATURE_PAGEFAULT_FLAG_WP, "Linux 5.7, not on every architecture");
    w.pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, w.pages);
    /* Before the region: its threads stay on one CPU each, this one goes where there is room. */
    if ((errno = pthread_create(&w.u.thread, NULL, answer, &w)) != 0)
        fail(s, "pthread_create");
    struct region r = region_begin(s, TRACKED);
    w.r = &r;
    w.u.p = r.p;
    r.own = &w;
    restore(&r, r.p, r.bytes); /* a page that is not there cannot be protected */
    userfault_register(s, &w.u, UFFDIO_REGISTER_MODE_WP);
    protect(&r);
    reset_cycles(s, &r, reset);
    fact(s, "noted_bytes", r.restored);
    check_done(s, userfault_interrupt(w.u.thread, &w.stop, &w.ended), "sigaction");
    close(w.u.descriptor);
    munmap(w.pages, room);
    region_end(&r);
}

METHOD(reset_uffd_wp_sync, .experiment = "reset", .name = "uffd-wp-sync",
       .summary = "userfaultfd: another thread notes each page at its first write and lets the write through.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS "; reset.minor_faults == 0; noted_bytes == dirty_pages * page_bytes",
       .calls = "reset:ioctl", .run = run);
