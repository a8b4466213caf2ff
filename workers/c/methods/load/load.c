/* The file of the `load` methods, its records, their uses and the proofs. Timed: the uses only. */
#include "load.h"
#include "latency.h"
#include "methods/fault/kinds.h"
#include "methods/output/output.h"
#include "methods/read/read.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { CACHES_BYTES = 64 << 20 }; /* more than the caches of most CPUs hold */
static struct {
    char name[64], place[16];
    int folder;
    size_t bytes;
} made;
static uint32_t *order;
static char *buffer;
static size_t order_bytes, buffer_bytes;
static uint64_t device_before;

void *load_room(struct slot *s, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p);
    return p;
}

static uint64_t random_below(uint64_t *state, uint64_t size)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545F4914F6CDD1Du >> 32) * size >> 32;
}

/* One record in each stretch of 100 / share, at a seeded place; used in ascending order, or in a seeded one. */
static void choose_records(struct slot *s, struct load *l)
{
    uint64_t state = s->seed | 1;
    size_t share = key_size(s, "share"), all = l->bytes / l->record;
    if (share == 0 || share > 100 || l->record % 64 || l->bytes % l->record || all * share < 100)
        skip(s, "records are of whole 64 bytes and divide the file, and at least one is used");
    l->count = all * share / 100;
    if (order)
        munmap(order, order_bytes);
    order_bytes = l->count * sizeof *order;
    order = load_room(s, order_bytes);
    for (size_t i = 0; i < l->count; i++) {
        size_t from = i * all / l->count, to = (i + 1) * all / l->count;
        order[i] = (uint32_t)(from + random_below(&state, to - from));
    }
    for (size_t i = l->count; key_is(s, "order", "random") && i > 1; i--) {
        size_t other = random_below(&state, i);
        uint32_t number = order[i - 1];
        order[i - 1] = order[other];
        order[other] = number;
    }
    l->order = order;
    l->answer = l->count < ANSWER_RECORDS ? l->count : ANSWER_RECORDS;
}

/* The pattern, in the launch's folder or on a file system of its own; made once. */
static void make_file(struct slot *s, struct load *l)
{
    const char *place = key_word(s, "place");
    if (made.bytes == l->bytes && strcmp(made.place, place) == 0) {
        l->folder = made.folder;
        l->name = made.name;
        return;
    }
    if (made.bytes) {
        unlinkat(made.folder, made.name, 0);
        close(made.folder);
        made.bytes = 0;
    }
    made.folder = output_place(s, place);
    snprintf(made.name, sizeof made.name, "load-%zu-%d", l->bytes, getpid());
    snprintf(made.place, sizeof made.place, "%s", place);
    int file = openat(made.folder, made.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        fail(s, "openat");
    uint64_t *words = load_room(s, READ_BYTES);
    for (size_t at = 0; at < l->bytes;) {
        size_t want = l->bytes - at < READ_BYTES ? l->bytes - at : READ_BYTES;
        for (size_t i = 0; i < want / 8; i++)
            words[i] = pattern_word(s->seed, at / 8 + i);
        ssize_t put = pwrite(file, words, want, (off_t)at);
        if (put < 0 && errno != EINTR)
            fail(s, "pwrite");
        at += put > 0 ? (size_t)put / 8 * 8 : 0;
    }
    munmap(words, READ_BYTES);
    check_done(s, fsync(file), "fsync");
    check_done(s, close(file), "close");
    made.bytes = l->bytes;
    l->folder = made.folder;
    l->name = made.name;
}

static uint64_t own_device_bytes(void)
{
    char line[128];
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "read_bytes: %llu", &bytes) != 1)
        ;
    if (file)
        fclose(file);
    return bytes;
}

static bool is_bounded(const struct slot *s)
{
    return !key_is(s, "memory", "unbounded") || getenv("PAGEWISE_STATE_BOUND");
}

void need_memory(struct slot *s)
{
    if (is_bounded(s))
        skip(s, "a copy of the file is memory that cannot be taken back: only what keeps none can be bounded");
}

/* The frames left the caches full of lines that are yet to be written back: a mapping's first use took 0.3 of 3 ms for them. */
static void read_end_of(struct slot *s, const struct load *l)
{
    size_t room = RING_RECORDS * l->record, at = l->bytes > CACHES_BYTES ? l->bytes - CACHES_BYTES : 0;
    for (ssize_t got = 1; at < l->bytes && got > 0; at += (size_t)got)
        if ((got = pread(l->file, l->buffer, room, (off_t)at)) < 0)
            fail(s, "pread");
}

struct load load_begin(struct slot *s)
{
    bool bounded = is_bounded(s);
    if (bounded && (!key_is(s, "cache", "cold") || key_is(s, "place", "tmpfs-huge")))
        skip(s, "under a memory bound the file's pages come and go: cache=cold, on a file system that is not in memory");
    if (key_is(s, "place", "tmpfs-huge") && (key_is(s, "cache", "written") || key_is(s, "cache", "mapped")))
        skip(s, "the pages of a tmpfs file are the file itself and stay as they were made: cache=hot");
    struct load l = {.file = -1, .bytes = s->bytes, .record = key_size(s, "record")};
    choose_records(s, &l);
    make_file(s, &l);
    load_open(&l, 0);
    load_check(s, &l);
    (void)fact_file_system(s, l.file);
    bool cold = key_is(s, "cache", "cold");
    size_t cached = (cold ? make_cold : make_hot)(s, l.file, l.bytes);
    if (cold && cached == l.bytes)
        skip(s, "the file lies in memory and cannot be cold");
    fact(s, "cached_before_bytes", cached);
    fact(s, "read_ahead_kib", read_ahead_kib(l.file));
    if (buffer_bytes < RING_RECORDS * l.record) {
        if (buffer)
            munmap(buffer, buffer_bytes);
        buffer_bytes = RING_RECORDS * l.record;
        buffer = load_room(s, buffer_bytes);
    }
    l.buffer = buffer;
    if (!bounded)
        use_frames(s, cold ? 2 * l.bytes : l.bytes);
    if (!cold)
        read_end_of(s, &l);
    close(l.file);
    l.place = free_range(s, l.bytes);
    s->ops = l.count;
    s->phase_bytes = l.count * l.record;
    device_before = own_device_bytes();
    return l;
}

void load_lost(struct load *l, const char *call)
{
    if (l->failed)
        return;
    l->error = errno;
    l->failed = call;
}

void load_check(struct slot *s, const struct load *l)
{
    errno = l->error;
    if (l->failed && errno == EINVAL && (strcmp(l->failed, "madvise") == 0 || strcmp(l->failed, "openat") == 0))
        skip(s, refused(l->failed, "this kernel or file system does not have it"));
    check_done(s, l->failed != NULL, l->failed);
}

uint64_t load_use(struct load *l, size_t from, size_t to)
{
    uint64_t fold = 0;
    for (size_t i = from; i < to; i++)
        fold += record_fold(l->p + l->order[i] * l->record, l->record, l->order[i]);
    return fold;
}

/* Computed from the pattern, without the file. */
static uint64_t expected_fold(const struct slot *s, const struct load *l)
{
    uint64_t fold = 0;
    for (size_t i = 0; i < l->count; i++) {
        uint64_t sum = 0, first = l->order[i] * l->record / 8;
        for (size_t k = 0; k < l->record / 8; k++)
            sum += pattern_word(s->seed, first + k);
        fold += sum * (2 * (uint64_t)l->order[i] + 1);
    }
    return fold;
}

void load_proved(struct slot *s, const struct load *l)
{
    if (!s->proofs)
        return;
    uint64_t expected = expected_fold(s, l);
    fact(s, "used_bytes", l->count * l->record);
    fact(s, "wrong_first", l->first != expected);
    fact(s, "wrong_second", l->second != expected);
    fact_digest_value(s, l->first);
}

static void facts(struct slot *s, struct load *l, uint64_t device_first, uint64_t device_second)
{
    load_proved(s, l);
    fact(s, "device_bytes", device_first);
    fact(s, "second_device_bytes", device_second);
    /* A block of malloc's may share its mapping with a neighbour. */
    bool own = l->p && l->p != l->place;
    uint64_t anonymous = own ? mapped_present_bytes(s, l->p, l->bytes) : l->p ? smaps_bytes(s, l->p, "Anonymous") : 0;
    struct load again = {.folder = l->folder, .name = l->name};
    load_open(&again, 0);
    load_check(s, &again);
    size_t cached = resident_bytes(s, again.file, l->bytes);
    if (cached == l->bytes)
        folio_facts(s, again.file, l->bytes, FAULT_AROUND_BYTES);
    else
        fact(s, "fault_piece_bytes", s->huge_page_bytes ? s->huge_page_bytes : FAULT_AROUND_BYTES);
    close(again.file);
    fact(s, "anon_bytes", anonymous);
    fact(s, "huge_bytes", l->p ? huge_bytes_around(s, l->p, l->bytes) : 0);
    fact(s, "memory_bytes", anonymous + cached);
}

void load_uses_by(struct slot *s, struct load *l, uint64_t (*use)(struct load *, size_t from, size_t to))
{
    uint64_t answered = 0, rest = 0, ns[ANSWER_RECORDS], last, now;
    size_t answer = l->answer, count = l->count, batch = l->batch ? l->batch : 1, asked = 0;
    load_check(s, l);
    PHASE(s, "answer") {
        last = now_ns();
        for (size_t i = 0; i < answer; i += batch) {
            answered += use(l, i, answer - i < batch ? answer : i + batch);
            now = now_ns();
            ns[asked++] = now - last;
            last = now;
        }
    }
    PHASE(s, "first-use") { rest = use(l, answer, count); }
    uint64_t device_first = own_device_bytes();
    PHASE(s, "second-use") { l->second = use(l, 0, count); }
    uint64_t device_second = own_device_bytes();
    l->first = answered + rest;
    load_check(s, l);
    latency_record(s, ns, asked);
    if (s->proofs)
        facts(s, l, device_first - device_before, device_second - device_first);
}

void load_uses(struct slot *s, struct load *l)
{
    load_uses_by(s, l, load_use);
}

void load_end(struct slot *s, struct load *l)
{
    load_check(s, l);
}
