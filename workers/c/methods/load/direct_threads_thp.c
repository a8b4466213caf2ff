#include "load.h"
#include <pthread.h>
#include <stdatomic.h>

static struct load l;
static atomic_size_t next;

static void *read_steps(void *own)
{
    struct load *mine = own;
    for (size_t at; !mine->failed && (at = atomic_fetch_add(&next, READ_BYTES)) < l.bytes;)
        load_read(mine, at, at + READ_BYTES < l.bytes ? at + READ_BYTES : l.bytes);
    return NULL;
}

/* As many reads are under way as there are threads; each takes the next MiB. */
static void read_at_once(void)
{
    pthread_t threads[IN_FLIGHT];
    struct load own[IN_FLIGHT];
    int started = 0;
    for (; started < IN_FLIGHT && !l.failed; started++) {
        own[started] = l;
        if ((errno = pthread_create(&threads[started], NULL, read_steps, &own[started])) != 0)
            load_lost(&l, "pthread_create");
        started -= l.failed != NULL;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        errno = own[i].error;
        if (own[i].failed)
            load_lost(&l, own[i].failed);
    }
}

static void run(struct slot *s)
{
    need_memory(s);
    l = load_begin(s);
    need_huge_pages(s);
    file_on_device(s, l.folder);
    next = 0;
    PHASE(s, "open") { load_open(&l, O_DIRECT); }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_memory(&l, true);
        read_at_once();
    }
    load_check(s, &l);
    load_uses(s, &l);
    PHASE(s, "drop") { load_drop(&l); }
    load_end(s, &l);
}

METHOD(load_direct_threads_thp, .experiment = "load", .name = "direct-threads-thp",
       .summary = "O_DIRECT reads of 1 MiB by eight threads, into transparent huge pages: nothing stays in the page cache.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS, .memory = LOAD_MEMORY, .laws = HUGE_COPY_LAWS,
       .calls = "open:openat bring:mmap,madvise,pread64+,mprotect?,clone3?,clone?,rt_sigprocmask?,munmap?,futex? drop:munmap,close", .run = run);
