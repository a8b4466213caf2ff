/* libFuzzer target for the packet walk of the `read` experiment. What comes from a file goes through the walk in pieces that
 * the input itself chooses, and must agree with a walk that is written for clearness only. Build and run: fuzz/walk.sh */
#include "../workers/c/methods/read/walk.c"
#include "../workers/c/methods/read/words.c"
#include <stdio.h>
#include <stdlib.h>

static uint64_t number(const unsigned char *p, size_t bytes, bool swapped)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)p[swapped ? bytes - 1 - i : i] << 8 * i;
    return value;
}

struct expected {
    uint64_t records, record_bytes, fold, cut_bytes;
    bool damaged;
};

static struct expected walk_clearly(const struct walk *rules, const unsigned char *file, size_t bytes)
{
    struct expected e = {0};
    size_t at = 24;
    while (at + 16 <= bytes) {
        uint64_t length = number(file + at + 8, 4, rules->swapped);
        if (length > rules->limit) {
            e.damaged = true;
            return e;
        }
        if (at + 16 + length > bytes)
            break;
        uint64_t payload = 0;
        for (size_t i = 0; rules->payload && i < length; i++)
            payload += (uint64_t)file[at + 16 + i] << 8 * (i % 8);
        e.fold += mix(e.records, number(file + at, 8, false), number(file + at + 8, 8, false), payload);
        e.records++;
        e.record_bytes += length;
        at += 16 + length;
    }
    e.cut_bytes = bytes - at;
    return e;
}

static void same(const char *what, uint64_t found, uint64_t expected)
{
    if (found == expected)
        return;
    fprintf(stderr, "%s: the walk says %llu, and %llu is right\n", what, (unsigned long long)found,
            (unsigned long long)expected);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct walk walk;
    if (size < 1)
        return 0;
    /* The first byte seeds the lengths of the pieces; 0 means all at once. Odd ones use the packets' bytes too. */
    uint32_t random = data[0];
    const unsigned char *file = data + 1;
    size_t bytes = size - 1;
    if (walk_begin(&walk, file, bytes))
        return 0;
    walk.payload = data[0] % 2;
    struct walk rules = walk;
    for (size_t at = 0; at < bytes;) {
        random = random * 1664525 + 1013904223;
        size_t piece = data[0] ? 1 + (random >> 8) % (1u + data[0]) : bytes;
        piece = piece < bytes - at ? piece : bytes - at;
        /* A copy of its own lets the sanitizer see every byte read beyond the piece. */
        unsigned char *copy = malloc(piece);
        memcpy(copy, file + at, piece);
        walk_piece(&walk, copy, piece);
        free(copy);
        at += piece;
    }
    struct expected e = walk_clearly(&rules, file, bytes);
    same("damaged", walk.damaged, e.damaged);
    if (e.damaged)
        return 0;
    same("records", walk.records, e.records);
    same("record_bytes", walk.record_bytes, e.record_bytes);
    same("fold", walk.fold, e.fold);
    same("cut_bytes", walk_cut_bytes(&walk), e.cut_bytes);
    return 0;
}

#ifdef WITHOUT_LIBFUZZER
/* Runs the files that are named, each once: for compilers without libFuzzer, and for a crash that is to be looked at. */
int main(int argc, char **argv)
{
    static unsigned char text[1 << 20];
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file)
            return 1;
        size_t bytes = fread(text, 1, sizeof text, file);
        fclose(file);
        LLVMFuzzerTestOneInput(text, bytes);
    }
    return 0;
}
#endif
