/* The protocol's digest, data pattern and word check. Never timed. */
#include "core.h"

bool proving = true;

static uint64_t word_at(const unsigned char *start, size_t bytes, size_t offset)
{
    uint64_t word = 0;
    size_t left = bytes - offset;
    memcpy(&word, start + offset, left < 8 ? left : 8);
    return word;
}

uint64_t digest_of(const void *start, size_t bytes)
{
    const unsigned char *p = start;
    uint64_t sum = 0, weight = 1;
    size_t whole = bytes & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8, weight += 2) {
        uint64_t word;
        memcpy(&word, p + i, 8);
        sum += word * weight;
    }
    if (whole < bytes)
        sum += word_at(p, bytes, whole) * weight;
    return sum + bytes * 0x9E3779B97F4A7C15u;
}

void fact_digest(struct slot *s, const void *start, size_t bytes)
{
    if (s->proofs)
        fact_digest_value(s, digest_of(start, bytes));
}

void fact_digest_value(struct slot *s, uint64_t digest)
{
    if (!s->proofs)
        return;
    if (in_child())
        child_fact("digest", digest, NULL);
    else
        fact_word(s, "digest", arena_text("%016llx", (unsigned long long)digest));
}

uint64_t pattern_word(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void pattern_fill(void *start, size_t bytes, uint64_t seed)
{
    unsigned char *p = start;
    size_t whole = bytes & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word = pattern_word(seed, i / 8);
        memcpy(p + i, &word, 8);
    }
    uint64_t last = pattern_word(seed, whole / 8);
    memcpy(p + whole, &last, bytes - whole);
}

size_t pattern_first_wrong(const void *start, size_t bytes, uint64_t seed)
{
    if (!proving)
        return bytes;
    const unsigned char *p = start;
    size_t whole = bytes & ~(size_t)7, same = 0;
    for (uint64_t word; same < whole; same += 8) {
        memcpy(&word, p + same, 8);
        if (word != pattern_word(seed, same / 8))
            break;
    }
    for (size_t i = same; i < bytes; i += 8) {
        uint64_t expected = pattern_word(seed, i / 8);
        size_t left = bytes - i < 8 ? bytes - i : 8;
        if (memcmp(p + i, &expected, left) != 0) {
            while (p[i] == ((unsigned char *)&expected)[i % 8])
                i++;
            return i;
        }
    }
    return bytes;
}
