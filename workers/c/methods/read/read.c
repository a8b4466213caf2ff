/* Before and after the clock of every `read` method. */
#include "read.h"
#include "series.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { TMPFS = 0x01021994, RAMFS = (int)0x858458f6 };

bool own_counts(struct io_counts *counts, size_t *own_text)
{
    char text[512];
    int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return false;
    text[got] = 0;
    const char *brought = strstr(text, "rchar: "), *calls = strstr(text, "syscr: "), *bytes = strstr(text, "\nread_bytes: ");
    if (!brought || !calls || !bytes)
        return false;
    counts->call_bytes = strtoull(brought + 7, NULL, 10);
    counts->read_calls = strtoull(calls + 7, NULL, 10);
    counts->own_bytes = strtoull(bytes + 13, NULL, 10);
    if (own_text)
        *own_text = (size_t)got;
    return true;
}

/* What the device of the file has read and written for everybody: fields 3 and 7, in sectors of 512 bytes. */
static bool device_counts(dev_t device, struct io_counts *counts)
{
    char path[64];
    unsigned long long read_sectors, written_sectors;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/stat", major(device), minor(device));
    FILE *file = fopen(path, "re");
    bool known = file && fscanf(file, "%*u %*u %llu %*u %*u %*u %llu", &read_sectors, &written_sectors) == 2;
    if (file)
        fclose(file);
    if (known)
        counts->device_bytes = (read_sectors + written_sectors) * 512;
    return known;
}

static bool device_of_file_counts(const struct input *in, struct io_counts *counts)
{
    struct stat status;
    return fstat(in->descriptor, &status) == 0 && device_counts(status.st_dev, counts);
}

__attribute__((noreturn)) static void refuse(struct slot *s, int error, const char *message)
{
    errno = error;
    fail_because(s, "open", message);
}

/* Looks before it opens: opening a FIFO would wait for its writer. */
static void open_file(struct slot *s, struct input *in)
{
    static char message[160];
    struct stat status;
    if (stat(in->path, &status) != 0)
        fail(s, "stat");
    if (S_ISDIR(status.st_mode))
        refuse(s, EISDIR, "the file is a directory");
    if (!S_ISREG(status.st_mode))
        refuse(s, ESPIPE, S_ISFIFO(status.st_mode) ? "the file is a FIFO: what was read from it is gone, so it cannot be read "
                                                     "twice alike; give a regular file"
                                                   : "the file is a device or a socket; give a regular file");
    if (status.st_size == 0)
        refuse(s, ENODATA, "the file is empty: there is nothing to read");
    if ((uint64_t)status.st_size < in->bytes) {
        snprintf(message, sizeof message, "the file has %lld bytes and the cell asks for %zu",
                 (long long)status.st_size, in->bytes);
        refuse(s, ENODATA, message);
    }
    if ((in->descriptor = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
        fail(s, "open");
    uint64_t stored = (uint64_t)status.st_blocks * 512;
    in->stored_bytes = stored < in->bytes ? stored : in->bytes;
}

static void check_place(struct slot *s, const struct input *in)
{
    struct statfs kind;
    if (fstatfs(in->descriptor, &kind) != 0)
        fail(s, "fstatfs");
    bool memory = (uint32_t)kind.f_type == TMPFS || (uint32_t)kind.f_type == (uint32_t)RAMFS;
    if (memory && key_is(s, "place", "disk"))
        skip(s, "the file lies in memory (tmpfs), so place=disk is not measured with it");
    if (!memory && key_is(s, "place", "tmpfs"))
        skip(s, "the file lies on a disk's file system, so place=tmpfs is not measured with it");
    if (key_is(s, "cache", "written") && !note_exists(in))
        skip(s, "cache=written writes the file anew, which is done to the generated file only");
    if (memory && (key_is(s, "cache", "cold") || key_is(s, "cache", "dropped")))
        skip(s, "refused: tmpfs cannot be cold, its pages are the storage itself; neither fadvise nor drop_caches empties it");
}

static void open_sink(struct slot *s, struct input *in, bool mapped)
{
    unsigned char start[WALK_FILE_HEADER] = {0};
    bool payload = key_is(s, "consume", "payload");
    in->sink.kind = key_is(s, "consume", "sum") ? CONSUME_SUM : mapped ? CONSUME_TOUCH : CONSUME_NONE;
    if (!payload && !key_is(s, "consume", "records"))
        return;
    if (random_block(s))
        skip(s, "packets are found by walking, one after another: order=random goes with consume=sum or none");
    ssize_t got = pread(in->descriptor, start, sizeof start, 0);
    if (got < 0)
        fail(s, "pread");
    const char *wrong = walk_begin(&in->sink.walk, start, (size_t)got < in->bytes ? (size_t)got : in->bytes);
    if (wrong)
        refuse(s, EINVAL, wrong);
    in->sink.kind = payload ? CONSUME_PAYLOAD : CONSUME_RECORDS;
    in->sink.walk.payload = payload;
}

static void *resident_pages(struct slot *s, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p);
    return p;
}

/* A seeded permutation of all blocks (Fisher and Yates), by the protocol's index sequence. */
static void shuffle_blocks(struct slot *s, struct input *in)
{
    size_t count = in->steps;
    if (count > UINT32_MAX)
        skip(s, "order=random numbers blocks with 32 bits: files of up to 16 TiB");
    in->blocks_map_bytes = count * sizeof(uint32_t);
    uint32_t *blocks = resident_pages(s, in->blocks_map_bytes);
    uint64_t x = s->seed | 1;
    for (size_t i = 0; i < count; i++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        size_t j = ((x * 0x2545F4914F6CDD1Du) >> 32) % (i + 1);
        blocks[i] = blocks[j];
        blocks[j] = (uint32_t)i;
    }
    in->blocks = blocks;
}

size_t random_block(struct slot *s)
{
    const char *word = key_word(s, "order");
    if (strcmp(word, "random") == 0)
        return BLOCK_BYTES;
    if (strncmp(word, "random-", 7) != 0)
        return 0;
    char *unit;
    size_t number = strtoull(word + 7, &unit, 10);
    /* The laboratory writes sizes in the largest unit that divides them: another one is no multiple of a KiB. */
    unsigned shift = strcmp(unit, "KiB") == 0 ? 10 : strcmp(unit, "MiB") == 0 ? 20 : 0;
    size_t block = number << shift;
    if (shift == 0 || block % BLOCK_BYTES != 0 || block > MOST_BLOCK_BYTES)
        skip(s, "blocks of a random order are multiples of 4 KiB up to 16 MiB: order=random-16KiB");
    return block;
}

void read_begin(struct slot *s, struct input *in, size_t chunk, size_t buffers)
{
    size_t block = random_block(s);
    *in = (struct input){.path = key_word(s, "file"), .bytes = s->bytes};
    if (chunk % BLOCK_BYTES != 0)
        skip(s, "chunk is not a multiple of 4096 bytes");
    open_file(s, in);
    check_place(s, in);
    open_sink(s, in, chunk == WHOLE);
    note_read(in);
    in->step_bytes = block ? block : chunk == WHOLE ? in->bytes : chunk;
    in->steps = (in->bytes + in->step_bytes - 1) / in->step_bytes;
    if (block)
        shuffle_blocks(s, in);
    if (buffers) {
        in->buffer_bytes = buffers * in->step_bytes;
        in->buffer = resident_pages(s, in->buffer_bytes);
    }
    s->ops = in->bytes;
    in->footprint_bytes = in->bytes + in->buffer_bytes;
    if (key_is(s, "cache", "dropped")) {
        drop_caches(s);
        in->resident_before = resident_bytes(s, in->descriptor, in->bytes);
    } else {
        in->resident_before = key_is(s, "cache", "cold") ? make_cold(s, in->descriptor, in->bytes)
                                                         : make_hot(s, in->descriptor, in->bytes);
    }
    read_count_from_here(s, in);
}

void read_count_from_here(struct slot *s, struct input *in)
{
    (void)series_end();
    if (!key_is(s, "memory", "unbounded"))
        series_begin(s);
    reset_peak_rss();
    /* This process's own counts come last, so that nothing but the one call that reads them is counted with the method. */
    bool device = device_of_file_counts(in, &in->before);
    size_t own_text = 0;
    in->calls_counted = own_counts(&in->before, &own_text);
    in->before.call_bytes += own_text;
    in->counted = device && in->calls_counted;
}

void check_open(struct slot *s, int descriptor, const char *call)
{
    if (descriptor < 0)
        fail(s, call);
}

/* Whether the end of what was handed over last is not what the file has there. */
static bool last_is_wrong(struct slot *s, const struct input *in)
{
    static char there[1 << 14];
    size_t offset = step_offset(in, in->steps - 1), end = offset + bytes_at(in, offset);
    size_t bytes = in->sink.last_bytes < sizeof there ? in->sink.last_bytes : sizeof there;
    if (!in->sink.last)
        return true;
    if (pread(in->descriptor, there, bytes, (off_t)(end - bytes)) != (ssize_t)bytes)
        fail(s, "pread");
    return memcmp((const char *)in->sink.last + in->sink.last_bytes - bytes, there, bytes) != 0;
}

void check_pass(struct slot *s, struct input *in, const char *call)
{
    static char message[160];
    const struct walk *walk = &in->sink.walk;
    own_counts(&in->after, NULL);
    in->after.read_calls -= series_end();
    device_of_file_counts(in, &in->after);
    in->peak_rss_bytes = peak_rss_bytes();
    if (in->error) {
        errno = in->error;
        if (in->error == ENODATA)
            fail_because(s, call, "the file ended before its bytes were read: it has become shorter");
        fail(s, call);
    }
    if (walk->damaged) {
        snprintf(message, sizeof message, "record %llu claims %u bytes, more than any record of this file may have (%u): it is damaged",
                 (unsigned long long)walk->records, walk->wrong_bytes, walk->limit);
        errno = EBADMSG;
        fail_because(s, call, message);
    }
    in->resident_after = resident_bytes(s, in->descriptor, in->bytes);
    if (in->buffer)
        in->last_wrong = last_is_wrong(s, in);
}

void read_free(struct input *in)
{
    if (in->buffer)
        munmap(in->buffer, in->buffer_bytes);
    if (in->blocks)
        munmap((void *)in->blocks, in->blocks_map_bytes);
    close(in->descriptor);
}

void read_end(struct slot *s, struct input *in, uint64_t calls)
{
    uint64_t own = in->after.own_bytes - in->before.own_bytes, device = in->after.device_bytes - in->before.device_bytes;
    /* The count that was taken before was itself taken by one read call. */
    uint64_t read_calls = in->after.read_calls - in->before.read_calls;
    (void)fact_file_system(s, in->descriptor);
    fact(s, "peak_rss_bytes", in->peak_rss_bytes);
    fact(s, "read_calls", read_calls ? read_calls - 1 : 0);
    fact(s, "call_bytes", in->after.call_bytes - in->before.call_bytes);
    fact(s, "read.system_calls", calls + (read_calls ? read_calls - 1 : 0));
    fact(s, "device_bytes", own);
    fact(s, "counted", in->counted);
    fact(s, "calls_counted", in->calls_counted);
    if (in->counted)
        fact(s, "foreign_bytes", device > own ? device - own : 0);
    fact(s, "stored_bytes", in->stored_bytes);
    fact(s, "resident_before_bytes", in->resident_before);
    fact(s, "resident_after_bytes", in->resident_after);
    fact(s, "footprint_bytes", in->footprint_bytes);
    if (in->buffer)
        fact(s, "last_wrong", in->last_wrong);
    fact(s, "delivered_bytes", in->sink.delivered_bytes);
    fact(s, "step_bytes", in->step_bytes);
    fact(s, "page_bytes", s->page_bytes);
    fact(s, "content_known", in->content_known);
    if (in->content_known)
        fact(s, "content_wrong", (in->sink.kind == CONSUME_TOUCH ? in->sink.sum : sink_digest(&in->sink)) != in->content);
    if (in->sink.kind == CONSUME_RECORDS || in->sink.kind == CONSUME_PAYLOAD) {
        fact(s, "records", in->sink.walk.records);
        fact(s, "record_bytes", in->sink.walk.record_bytes);
        fact(s, "cut_bytes", walk_cut_bytes(&in->sink.walk));
    }
    if (!key_is(s, "memory", "unbounded"))
        series_fact(s);
    fact_digest_value(s, sink_digest(&in->sink));
    if (in->resident_after == in->bytes)
        folio_facts(s, in->descriptor, in->bytes, FAULT_AROUND_BYTES);
    read_free(in);
}
