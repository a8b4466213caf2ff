#include "reset.h"
#include <signal.h>
#include <stdio.h>

/* The region that is watched, and what was noted. One thread uses it; the handler runs on that thread. */
static struct {
    struct region *r;
    uint32_t *pages;
    size_t count;
    struct sigaction before;
} noted;

/* Notes the page and lets the write through. A fault elsewhere is not for this handler: it comes again, to the old one. */
static void note(int number, siginfo_t *information, void *context)
{
    struct region *r = noted.r;
    size_t at = (size_t)((char *)information->si_addr - r->p);
    (void)context;
    if (at >= r->bytes || r->failed) {
        sigaction(number, &noted.before, NULL);
        return;
    }
    noted.pages[noted.count++] = (uint32_t)(at / r->page);
    if (mprotect(r->p + at / r->page * r->page, r->page, PROT_READ | PROT_WRITE) != 0) {
        region_lost(r, "mprotect");
        mprotect(r->p, r->bytes, PROT_READ | PROT_WRITE); /* the use comes to its end, and its failure is told then */
    }
}

static void protect(struct region *r)
{
    noted.count = 0;
    if (mprotect(r->p, r->bytes, PROT_READ) != 0)
        region_lost(r, "mprotect");
}

static void reset(struct region *r)
{
    restore_noted(r, noted.pages, noted.count);
    protect(r);
}

/* Each lone dirty page makes two mappings more. */
static void need_mappings(struct slot *s, const struct region *r)
{
    unsigned long limit = 65530;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file && fscanf(file, "%lu", &limit) != 1)
        limit = 65530;
    if (file)
        fclose(file);
    unsigned long mappings = 2 * r->dirty_pages + 1000;
    if (key_is(s, "scatter", "spread") && mappings > limit)
        skip(s, arena_text("more dirty pages than mappings are allowed: sudo sysctl vm.max_map_count=%lu", mappings));
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, TRACKED);
    need_mappings(s, &r);
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    size_t room = r.bytes / r.page * sizeof *noted.pages;
    noted.pages = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, noted.pages);
    noted.r = &r;
    check_done(s, sigaction(SIGSEGV, &action, &noted.before), "sigaction");
    protect(&r);
    reset_cycles(s, &r, reset);
    fact(s, "noted_bytes", r.restored);
    sigaction(SIGSEGV, &noted.before, NULL);
    munmap(noted.pages, room);
    region_end(&r);
}

METHOD(reset_sigsegv, .experiment = "reset", .name = "sigsegv",
       .summary = "mprotect(PROT_READ): a signal handler notes each page at its first write, as garbage collectors do.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = RESET_LAWS "; reset.minor_faults == 0; noted_bytes == dirty_pages * page_bytes",
       .calls = "use:mprotect,rt_sigreturn reset:mprotect", .run = run);
