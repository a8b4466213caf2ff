/* Whether an x86-64 instruction writes its memory operand. Enough of the instruction set to tell the read of a fresh
 * page, which gets the zero page, from the write that gets one of its own; what it does not know it takes for a read. */
#include "direction.h"
#include <stdbool.h>
#include <sys/uio.h>

/* PAGE_BYTES: the least size of a page, which code that is mapped does not end before. */
enum { CODE = 16, PAGE_BYTES = 4096, PLACES = 1 << 14 };

#if defined(__x86_64__)

struct form {
    bool repeat_f3;            /* prefix F3 */
    unsigned map;              /* 0: one byte; 1: 0F; 2: 0F 38; 3: 0F 3A */
};

static enum direction of(bool writes)
{
    return writes ? DIRECTION_WRITE : DIRECTION_READ;
}

/* Opcodes of one byte; `reg` is the middle field of the byte that follows. */
static enum direction one_byte(unsigned op, unsigned reg)
{
    if (op < 0x40)
        return of((op & 7) < 2 && op != 0x38 && op != 0x39);
    if (op >= 0x50 && op <= 0x57)
        return DIRECTION_WRITE;                     /* push */
    switch (op) {
    case 0xa4: case 0xa5: return DIRECTION_COPY;    /* movs */
    case 0x80: case 0x81: case 0x83: return of(reg != 7);
    case 0x86: case 0x87: case 0x88: case 0x89: case 0x8c: case 0x8f: /* xchg, mov, pop */
    case 0xaa: case 0xab:                           /* stos */
    case 0xc0: case 0xc1: case 0xd0: case 0xd1: case 0xd2: case 0xd3:
    case 0xc6: case 0xc7: case 0xc8: case 0xe8: case 0x68: case 0x6a: return DIRECTION_WRITE;
    case 0xf6: case 0xf7: return of(reg == 2 || reg == 3);
    case 0xfe: case 0xff: return of(reg < 4 || reg == 6);
    default: return DIRECTION_READ;
    }
}

/* Opcodes behind 0F, which those of VEX and EVEX in the same map repeat. */
static enum direction two_bytes(unsigned op, unsigned reg, struct form f)
{
    if (op >= 0x90 && op <= 0x9f)
        return DIRECTION_WRITE;                     /* setcc; kmov of AVX-512 */
    switch (op) {
    case 0x11: case 0x13: case 0x17: case 0x29: case 0x2b: case 0x7f: case 0xd6: case 0xe7: case 0xc3:
    case 0xab: case 0xb3: case 0xbb: case 0xb0: case 0xb1: case 0xc0: case 0xc1: case 0xc7:
    case 0xa4: case 0xa5: case 0xac: case 0xad: return DIRECTION_WRITE;
    case 0x7e: return of(!f.repeat_f3);             /* movd, movq to memory */
    case 0xba: return of(reg > 4);
    case 0xae: return of(reg == 0 || reg == 3 || reg == 4 || reg == 6);
    default: return DIRECTION_READ;
    }
}

static enum direction three_bytes(unsigned op, unsigned map)
{
    if (map == 2)
        return of(op == 0x2e || op == 0x2f || op == 0x8e ||
                  (op >= 0xa0 && op <= 0xa3) || op == 0x63 || op == 0x8a || op == 0x8b);
    return of((op >= 0x14 && op <= 0x17) || op == 0x19 || op == 0x1b || op == 0x1d || op == 0x39 || op == 0x3b);
}

enum direction direction_of(const unsigned char *code, size_t bytes)
{
    struct form f = {0};
    size_t i = 0;
    for (; i < bytes; i++) {
        unsigned c = code[i];
        if (c == 0xf3)
            f.repeat_f3 = true;
        else if (c != 0x66 && c != 0xf2 && c != 0xf0 && c != 0x67 && c != 0x2e && c != 0x36 && c != 0x3e &&
                 c != 0x26 && c != 0x64 && c != 0x65)
            break;
    }
    if (i < bytes && (code[i] & 0xf0) == 0x40)
        i++;                                        /* REX */
    if (i + 6 > bytes)
        return DIRECTION_UNKNOWN;
    unsigned op;
    if (code[i] == 0xc5) {
        f.map = 1;
        f.repeat_f3 = (code[i + 1] & 3) == 2;
        i += 2;
    } else if (code[i] == 0xc4 || code[i] == 0x62) {
        bool evex = code[i] == 0x62;
        f.map = code[i + 1] & (evex ? 7 : 31);
        f.repeat_f3 = (code[i + 2] & 3) == 2;
        i += evex ? 4 : 3;
    } else if (code[i] == 0x0f) {
        f.map = code[i + 1] == 0x38 ? 2 : code[i + 1] == 0x3a ? 3 : 1;
        i += f.map == 1 ? 1 : 2;
    }
    op = code[i++];
    unsigned reg = i < bytes ? code[i] >> 3 & 7 : 0;
    return f.map == 0 ? one_byte(op, reg) : f.map == 1 ? two_bytes(op, reg, f) : three_bytes(op, f.map);
}

#else

enum direction direction_of(const unsigned char *code, size_t bytes)
{
    (void)code;
    (void)bytes;
    return DIRECTION_UNKNOWN;
}

#endif

static struct {
    uint64_t ip;
    pid_t pid;
    uint8_t direction;
} known[PLACES];

/* The code of one place is read once for each process; where the process has gone, another's at the same place is taken. */
enum direction direction_at(pid_t pid, uint64_t ip)
{
    unsigned at = (unsigned)((ip * 0x9E3779B97F4A7C15u) >> 50);
    if (known[at].ip == ip && known[at].pid == pid)
        return known[at].direction;
    unsigned char code[CODE];
    struct iovec here = {code, CODE}, there = {(void *)ip, CODE};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got < CODE) {
        there.iov_len = PAGE_BYTES - ip % PAGE_BYTES; /* up to the end of its page */
        got = there.iov_len < CODE ? process_vm_readv(pid, &here, 1, &there, 1, 0) : got;
    }
    if (got <= 0 && known[at].ip == ip)
        return known[at].direction;
    enum direction found = got > 0 ? direction_of(code, (size_t)got) : DIRECTION_UNKNOWN;
    if (found == DIRECTION_UNKNOWN)
        return found;
    known[at].ip = ip;
    known[at].pid = pid;
    known[at].direction = (uint8_t)found;
    return found;
}
