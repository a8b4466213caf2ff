/* What the `relay` methods share: side a's file in the asked-for cache state, side b's resident block, the proofs. */
#ifndef PAGEWISE_RELAY_H
#define PAGEWISE_RELAY_H
#include "../transfer/streams.h"

#define RELAY_PHASES "send receive"
#define ANY_RELAY_KEYS "bytes:size cache:hot|written|mapped|cold place:disk|tmpfs " PIN_KEY
#define RELAY_KEYS ANY_RELAY_KEYS " sink:memory"
#define BOTH_SINKS_KEYS ANY_RELAY_KEYS " sink:memory|file|synced-file"
#define FILE_SINK_KEYS ANY_RELAY_KEYS " sink:file|synced-file"
#define FILE_SINK_PHASES "send receive write-back"
/* The file was in the page cache wholly or not at all, as the cell says; b's block was resident and is now the file's copy. */
#define WHOLLY "cached_pages_before == (bytes + page_bytes - 1) / page_bytes"
#define CACHE_LAWS                                                                                                     \
    "cache=cold: cached_pages_before == 0; cache=hot: " WHOLLY "; cache=written: " WHOLLY "; cache=mapped: " WHOLLY
#define RELAY_LAWS "wrong_at == bytes; receive.minor_faults == 0; " PIN_LAWS "; " CACHE_LAWS
/* Into a file: it has the length and, read by itself, the content; waiting for write-back left nothing dirty of it. */
#define FILE_SINK_LAWS "wrong_at == bytes; new_file_bytes == bytes; " PIN_LAWS "; " CACHE_LAWS                         \
    "; dirty_known == 1: dirty_bytes_after == 0"
#define BOTH_SINKS_LAWS "wrong_at == bytes; sink=memory: receive.minor_faults == 0; " PIN_LAWS "; " CACHE_LAWS           \
    "; dirty_known == 1: dirty_bytes_after == 0"

/* Side a: a file without a name that holds the pattern, made once a launch for each size. Both sides skip the cell where
 * there can be none, or where side a has another obstacle. */
int relay_file(struct slot *s, const char *obstacle);
/* Side a, last before its phase: puts the file into the asked-for cache state, proves it by `cached_pages_before`, meets b. */
void relay_ready(struct slot *s, int file);
uint64_t relay_prepare(struct slot *s, int file); /* only the cache; returns the pages that it holds */
int relay_new_file(struct slot *s);                /* without a name, where the cell has its files */
/* Side b: answers relay_file() and gives the block. Meets a with meet() when its channel is open. */
char *relay_target(struct slot *s);
void relay_sent(struct slot *s, uint64_t calls);
void relay_received(struct slot *s, char *p, uint64_t calls);
/* Side a, where nobody holds a copy: proves the file itself. */
void relay_prove_file(struct slot *s, int file);

/* Where side b puts what it gets: a resident block, or a new file without a name on the same file system. */
struct sink {
    char *block;
    int file; /* -1 for a block */
    bool synced;
};
struct sink relay_sink(struct slot *s); /* in place of relay_target() */
/* After the phase `receive`: makes `write-back`, then proves the block or the file, and puts it away. */
#define WRITE_BACK(s, to)                                                                                              \
    PHASE(s, "write-back") {                                                                                           \
        if ((to).synced && fdatasync((to).file) != 0)                                                                  \
            (to).synced = false;                                                                                       \
    }
void relay_sunk(struct slot *s, struct sink *to, uint64_t calls);

static inline struct moved splice_file(int file, int into, size_t bytes, size_t chunk)
{
    loff_t offset = 0;
    EACH_PIECE(splice(file, &offset, into, NULL, piece, 0));
}
#endif
