#include "output.h"
#include "ring.h"
#include <pthread.h>
#include <stdatomic.h>

static struct output o;
static atomic_size_t next;

static void *write_steps(void *own)
{
    struct output *mine = own;
    for (size_t i; !mine->failed && (i = atomic_fetch_add(&next, 1)) < o.steps;)
        output_one(mine, i);
    return NULL;
}

/* As many writes are under way as there are threads; each takes the next piece. */
static void write_at_once(void)
{
    pthread_t threads[DIRECT_DEPTH];
    struct output own[DIRECT_DEPTH];
    int started = 0;
    for (; started < DIRECT_DEPTH && !o.failed; started++) {
        own[started] = o;
        if ((errno = pthread_create(&threads[started], NULL, write_steps, &own[started])) != 0)
            output_lost(&o, "pthread_create");
        started -= o.failed != NULL;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        errno = own[i].error;
        if (own[i].failed)
            output_lost(&o, own[i].failed);
    }
}

static void run(struct slot *s)
{
    o = output_begin(s);
    file_on_device(s, o.folder);
    next = 0;
    PHASE(s, "open") { output_truncate(&o, O_DIRECT); }
    output_check(s, &o);
    PHASE(s, "size") { output_allocate(&o); }
    output_check(s, &o);
    PHASE(s, "fill") { write_at_once(); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_direct_threads, .experiment = "output", .name = "direct-threads",
       .summary = "fallocate(), then O_DIRECT writes by eight threads: nothing stays in the page cache, and the device has it all.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = DIRECT_LAWS,
       .calls = "open:openat size:fallocate fill:pwrite64+,mmap?,mprotect?,clone3?,clone?,rt_sigprocmask?,madvise?,munmap?,futex? "
                "finish:close sync:fsync remove:unlinkat",
       .run = run);
