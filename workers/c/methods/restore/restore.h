/* Shared by the `restore` methods: the snapshot, the guest that touches its working set, and pagers by userfaultfd. */
#ifndef PAGEWISE_RESTORE_H
#define PAGEWISE_RESTORE_H
#include "methods/fault/userfault.h"
#include "pin.h"
#include <stdatomic.h>

#define RESTORE_PHASES "map first work rest end"
#define RESTORE_KEYS                                                                                                   \
    "bytes:size set:count run:count order:random|ascending access:mixed|reads cache:hot|cold clones:count"
/* Every page of the set held the snapshot when the guest came to it, and what was written is there; so does everything else
 * once it was looked at. */
#define RESTORE_LAWS                                                                                                   \
    "wrong_words == 0; rest_wrong_words == 0; touched_pages == set_pages; access=reads: written_pages == 0; "             \
    "access=mixed: 2 * written_pages >= set_pages; 100 * set_pages <= clones * (set * (bytes / page_bytes) + 100 * run); "             \
    "100 * (set_pages + clones * run + clones) >= clones * set * (bytes / page_bytes)"
/* The snapshot was where `cache` says, and came from the device where it was not cached. */
#define FILE_LAWS                                                                                                      \
    RESTORE_LAWS "; cache=cold: cached_before_bytes == 0; cache=hot: cached_before_bytes == clones * bytes; "             \
                 "cache=cold & clones=1: device_bytes >= set_pages * page_bytes"
/* Each page of the set came once, asked for or before; the guest's memory is its own. */
#define PAGER_LAWS                                                                                                     \
    FILE_LAWS "; served_pages + prefetched_pages == set_pages; private_bytes == set_pages * page_bytes"
/* Answers that a pager on the guest's CPU, or on another one, gave from elsewhere; counted where it has a place. */
#define PAGER_PIN_KEY "pin:none|same|l3"
#define PAGER_PIN_LAWS "; pin=same: apart_pages == 0; pin=l3: apart_pages == served_pages"
/* The touching thread makes no call; read(2) and ioctl(2) are the pager's. */
#define PAGER_MAP "map:mmap,ioctl,mprotect?,rt_sigprocmask,clone3?,clone?,madvise?"
#define PAGER_CALLS PAGER_MAP " end:rt_sigaction,rt_sigprocmask?,tgkill?,getpid?,sched_yield?,futex?,close,munmap"

struct guest {
    char *p;                  /* `bytes` of memory that is restored, at a place that nothing else has */
    size_t bytes, page;
    uint32_t *set, *touches;  /* pages of the set, ascending and in the order of touching */
    size_t count, first;      /* pages of the set; touches of the phase first */
    bool writes;              /* every second touch writes */
    uint64_t *ns;             /* what each touch took */
    int snapshot, compact;    /* files: all, and the pages of the set one after another; -1 where a method has none */
    const char *failed;       /* a call of a phase; `error` is what it answered */
    int error;
    uint64_t prefetched;      /* pages */
};

#ifndef UFFD_FEATURE_MINOR_SHMEM /* Linux 5.13, 5.14 for shared memory */
#define UFFD_FEATURE_MINOR_HUGETLBFS (1 << 9)
#define UFFD_FEATURE_MINOR_SHMEM (1 << 10)
#define UFFDIO_REGISTER_MODE_MINOR ((uint64_t)1 << 2)
#define UFFDIO_CONTINUE _IOWR(UFFDIO, 0x07, struct uffdio_continue)
struct uffdio_continue {
    struct uffdio_range range;
    uint64_t mode;
    int64_t mapped;
};
#endif

enum files { NO_FILE, SNAPSHOT, SNAPSHOT_AND_SET };
struct guest guest_begin(struct slot *s, enum files files);
void guest_lost(struct guest *g, const char *call);
void guest_check(struct slot *s, const struct guest *g); /* after a phase: fails where a call of it did */
void *guest_map(struct guest *g, int flags, int file);   /* at the guest's place */
void guest_work(struct slot *s, struct guest *g);        /* phases first and work; facts, digest, latencies */
void guest_rest(struct slot *s, struct guest *g);        /* phase rest in rounds that prove */
void guest_rest_by(struct slot *s, struct guest *g, void (*work)(const struct part *)); /* the same by several threads */
void guest_end(struct slot *s, struct guest *g);         /* after the phase end */
void guest_unmap(struct guest *g);                       /* within it */
/* The next run of pages of the set from number `at` on: how many pages it has. */
size_t set_run(const struct guest *g, size_t at);
int filled_memory_file(struct slot *s, const struct guest *g, unsigned flags); /* a memory file with the snapshot's content */
void need_pool(struct slot *s, size_t bytes); /* skips where the pool of huge pages lacks as much, and all but one clone */
bool read_all(int file, char *to, size_t bytes, size_t offset);

/* Supplies pages by userfaultfd: from a thread, another process or a signal handler. In memory that all of them share. */
struct pager {
    struct userfault u;
    struct guest *g;
    const char *source;       /* a mapping of the snapshot */
    char *staging;            /* anonymous memory that pages are moved from */
    size_t around;            /* bytes an answer */
    bool poisons;             /* a test: no page but the first may be served */
    bool (*answer)(struct pager *, uint64_t address);
    _Atomic uint64_t served, prefetched;
    int cpu, guest_cpu;       /* where it runs, -1: anywhere; where the guest does */
    _Atomic uint64_t apart;   /* answers from another CPU than the guest's, where it does not run anywhere */
    _Atomic bool answering, stop, ended;
    _Atomic int error;        /* nobody answers any more, and the memory is the kernel's affair again */
};
struct pager *pager_open(struct slot *s, struct guest *g, uint64_t features, const char *since);
void pager_register(struct pager *pager, uint64_t mode);    /* within the phase map */
void pager_start(struct pager *pager);                      /* likewise: the thread */
void pager_stop(struct pager *pager);                       /* within the phase end */
void pager_check(struct slot *s, const struct pager *pager);
void pager_facts(struct slot *s, struct pager *pager);
void pager_give_up(struct pager *pager);
void *pager_serve(void *pager);
/* Answers. Pages that somebody else has supplied meanwhile are no failure. */
bool copy_in(struct pager *pager, uint64_t address);
bool go_on(struct pager *pager, uint64_t address); /* pages of the file are there: UFFDIO_CONTINUE */
/* Copies pages that the guest may ask for at the same time; how many were not there yet, or -1. */
long copy_pages(struct pager *pager, uint64_t to, const char *from, size_t bytes);
#endif
