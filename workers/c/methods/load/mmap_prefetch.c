#include "load.h"
#include <pthread.h>
#include <stdatomic.h>

enum { MOST_READERS = 64 };

struct reader {
    pthread_t thread;
    size_t first;         /* where its first chunk begins */
    size_t read;          /* bytes that it has read */
    char *buffer;         /* READ_BYTES, resident; what is read into it is thrown away */
    const char *failed;
    int error;
};

static struct load l;
static struct reader readers[MOST_READERS];
static size_t wanted, started, chunk;
static atomic_size_t next;

/* A chunk of its own, and then each time the next of the file. What is read is in the page cache then. */
static void *read_chunks(void *own)
{
    struct reader *r = own;
    for (size_t from = r->first; !r->failed && from < l.bytes; from = atomic_fetch_add(&next, chunk)) {
        size_t to = l.bytes - from < chunk ? l.bytes : from + chunk;
        for (size_t at = from; at < to && !r->failed;) {
            ssize_t got = pread(l.file, r->buffer, to - at < READ_BYTES ? to - at : READ_BYTES, (off_t)at);
            if (got > 0) {
                at += (size_t)got;
                r->read += (size_t)got;
            } else if (got == 0 || errno != EINTR) {
                r->error = got == 0 ? EIO : errno;
                r->failed = "pread";
            }
        }
    }
    return NULL;
}

/* What nobody has begun to read ahead is not read any more. */
static void end_readers(void)
{
    atomic_store(&next, l.bytes);
    for (size_t i = 0; i < started; i++) {
        pthread_join(readers[i].thread, NULL);
        errno = readers[i].error;
        if (readers[i].failed)
            load_lost(&l, readers[i].failed);
    }
    started = 0;
}

static void start_readers(void)
{
    atomic_store(&next, wanted * chunk);
    for (started = 0; started < wanted && !l.failed; started++) {
        readers[started].first = started * chunk;
        readers[started].read = 0;
        readers[started].failed = NULL;
        readers[started].error = 0;
        if ((errno = pthread_create(&readers[started].thread, NULL, read_chunks, &readers[started])) != 0) {
            load_lost(&l, "pthread_create");
            break;
        }
    }
    if (l.failed)
        end_readers();
}

static uint64_t use_behind_readers(struct load *own, size_t from, size_t to)
{
    uint64_t fold = 0;
    for (size_t i = from; i < to; i++)
        fold += record_fold(own->p + own->order[i] * own->record, own->record, own->order[i]);
    if (to == own->count && started)
        end_readers();
    return fold;
}

static void need_readers(struct slot *s)
{
    wanted = key_size(s, "readers");
    chunk = key_size(s, "chunk");
    if (wanted == 0 || wanted > MOST_READERS || chunk == 0)
        skip(s, "there are 1 to 64 readers, and a chunk has a byte at least");
    for (size_t i = 0; i < wanted; i++) {
        if (readers[i].buffer)
            continue;
        readers[i].buffer = mmap(NULL, READ_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        check_map(s, readers[i].buffer);
    }
}

static void run(struct slot *s)
{
    need_readers(s);
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
