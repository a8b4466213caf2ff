#include "receive.h"
#include <sys/sendfile.h>

/* The best of several ways of having the file with nobody between; found out before the clock, once a cell of a launch. */
static inline struct moved pread_all(int fd, char *p, size_t bytes, size_t chunk)
{
    EACH_PIECE(pread(fd, p + moved.bytes, piece, (off_t)moved.bytes));
}
static inline struct moved by_copy_file_range(int from, int into, size_t bytes, size_t chunk)
{
    loff_t offset = 0;
    EACH_PIECE(copy_file_range(from, &offset, into, NULL, piece, 0));
}
static inline struct moved by_sendfile(int from, int into, size_t bytes, size_t chunk)
{
    off_t offset = 0;
    EACH_PIECE(sendfile(into, from, &offset, piece));
}

enum { PIECE_BYTES = 256 << 10, ALONE = 2, CANDIDATES = 3, TRIES = 2 };
static const char *const into_memory[] = {"pread in one call", "pread by 256 KiB", "pread by 256 KiB while side a reads ahead"};
static const char *const into_file[] = {"copy_file_range", "sendfile", "sendfile while side a reads ahead"};

static struct moved take(int from, const struct sink *to, size_t bytes, int way)
{
    if (to->block)
        return pread_all(from, to->block, bytes, way == 0 ? bytes : PIECE_BYTES);
    return way == 0 ? by_copy_file_range(from, to->file, bytes, bytes) : by_sendfile(from, to->file, bytes, bytes);
}

/* Both sides go through all candidates in step; side b's time decides. */
static int find_best(struct slot *s, int file, const struct sink *to)
{
    static const struct cell *known;
    static int best;
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; known != s->cell && i < TRIES * CANDIDATES; i++) {
        uint64_t start = 0, spent = UINT64_MAX;
        if (s->role == 'a')
            relay_prepare(s, file);
        meet(s);
        if (s->role == 'b') {
            start = now_ns();
            if (take(file, to, s->bytes, i % CANDIDATES).bytes == s->bytes)
                spent = now_ns() - start;
            if (to->file >= 0 && (ftruncate(to->file, 0) != 0 || lseek(to->file, 0, SEEK_SET) != 0))
                fail(s, "ftruncate");
        } else if (i % CANDIDATES >= ALONE) {
            (void)!readahead(file, 0, s->bytes);
        }
        meet(s);
        best = spent < best_ns ? i % CANDIDATES : best;
        best_ns = spent < best_ns ? spent : best_ns;
    }
    if (s->role == 'b')
        tell(s, &best, sizeof best);
    else
        hear(s, &best, sizeof best);
    known = s->cell;
    return best;
}

static void run(struct slot *s)
{
    int file = relay_file(s, NULL);
    size_t bytes = s->bytes;
    tell_descriptor(file);
    int way = find_best(s, file, NULL);
    fact_word(s, "best_candidate", (key_is(s, "sink", "memory") ? into_memory : into_file)[way]);
    relay_ready(s, file);
    PHASE(s, "send") {
        if (way >= ALONE)
            (void)!readahead(file, 0, bytes);
    }
    relay_sent(s, way >= ALONE);
}

static void run_b(struct slot *s)
{
    struct sink to = relay_sink(s);
    int file = hear_descriptor(s), way = find_best(s, file, &to);
    size_t bytes = s->bytes;
    struct moved moved;
    if (to.block)
        to.block = block_resident(s, bytes); /* nothing of the tries is left in it */
    meet(s);
    PHASE(s, "receive") { moved = take(file, &to, bytes, way); }
    transfer_check(s, "pread, copy_file_range or sendfile", moved);
    WRITE_BACK(s, to);
    relay_sunk(s, &to, moved.calls);
    close(file);
}

METHOD(relay_limit, .experiment = "relay", .name = "limit", .role = "limit",
       .summary = "Side b takes the file itself, in the best way of several, alone or while side a reads ahead: what there is to pay when nobody stands between (the fact best_candidate tells).",
       .phases = FILE_SINK_PHASES, .keys = BOTH_SINKS_KEYS, .memory = "bytes", .laws = BOTH_SINKS_LAWS,
       .calls = "send:readahead? receive:pread64?,copy_file_range?,sendfile? write-back:fdatasync?", .run = run,
       .run_b = run_b);
