#include "load.h"
#include <pthread.h>
#include <stdatomic.h>

enum { MOST_READERS = 64 };

struct reader {
    pthread_t thread;
    size_t first;         /* where its first chunk begins */
    size_t read;          /* bytes that it has read */
    char *buffer;         /* READ_BYTES, resident; what is read into it is thrown away */
    int error;            /* of pread(2), or 0 */
};

static struct load l;
static struct reader readers[MOST_READERS];
static size_t wanted, started, chunk;
static atomic_size_t next;

/* A chunk of its own, and then each time the next of the file. What is read is in the page cache then. */
static void *read_chunks(void *reader)
{
    struct reader *r = reader;
    for (size_t from = r->first; !r->error && from < l.bytes; from = atomic_fetch_add(&next, chunk))
        for (size_t at = from, to = l.bytes - from < chunk ? l.bytes : from + chunk; at < to && !r->error;) {
            ssize_t got = pread(l.file, r->buffer, to - at < READ_BYTES ? to - at : READ_BYTES, (off_t)at);
            if (got <= 0)
                r->error = got == 0 ? EIO : errno == EINTR ? 0 : errno;
            else
                at += (size_t)got, r->read += (size_t)got;
        }
    return NULL;
}

/* What nobody has begun to read ahead is not read any more. */
static void end_readers(void)
{
    atomic_store(&next, l.bytes);
    while (started > 0) {
        pthread_join(readers[--started].thread, NULL);
        if ((errno = readers[started].error) != 0)
            load_lost(&l, "pread");
    }
}

static void start_readers(void)
{
    atomic_store(&next, wanted * chunk);
    for (; started < wanted && !l.failed; started += !l.failed) {
        struct reader *r = &readers[started];
        *r = (struct reader){.first = started * chunk, .buffer = r->buffer};
        if ((errno = pthread_create(&r->thread, NULL, read_chunks, r)) != 0)
            load_lost(&l, "pthread_create");
    }
    if (l.failed)
        end_readers();
}

static uint64_t use_behind_readers(struct load *used, size_t from, size_t to)
{
    uint64_t fold = load_use(used, from, to);
    if (to == used->count)
        end_readers();
    return fold;
}

static void run(struct slot *s)
{
    wanted = key_size(s, "readers");
    chunk = key_size(s, "chunk");
    if (wanted == 0 || wanted > MOST_READERS || chunk == 0)
        skip(s, "there are 1 to 64 readers, and a chunk has a byte at least");
    for (size_t i = 0; i < wanted; i++)
        if (!readers[i].buffer)
            readers[i].buffer = load_room(s, READ_BYTES);
    l = load_begin(s);
    PHASE(s, "open") { load_open(&l, 0); }
    load_check(s, &l);
    PHASE(s, "bring") {
        load_map(&l, 0);
        start_readers();
    }
    load_check(s, &l);
    load_uses_by(s, &l, use_behind_readers);
    PHASE(s, "drop") { load_drop(&l); }
    size_t ahead = 0, first = wanted * chunk;
    for (size_t i = 0; i < wanted; i++)
        ahead += readers[i].read;
    fact(s, "ahead_bytes", ahead);
    fact(s, "first_chunks_bytes", first < l.bytes ? first : l.bytes);
    load_end(s, &l);
}

METHOD(load_mmap_prefetch, .experiment = "load", .name = "mmap-prefetch",
       .summary = "The mapping, used while threads read the file ahead of it into the page cache, chunk by chunk.",
       .phases = LOAD_PHASES, .keys = LOAD_KEYS " readers:count chunk:size", .memory = LOAD_MEMORY " + readers * 1048576",
       .laws = LAZY_FILE_LAWS "; ahead_bytes >= first_chunks_bytes",
       .calls = "open:openat bring:mmap,mprotect?,clone3?,clone?,rt_sigprocmask?,munmap?,futex?,madvise? "
                "answer:futex?,munmap?,madvise? first-use:futex?,munmap?,madvise? drop:munmap,close",
       .run = run);
