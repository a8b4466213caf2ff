/* `make-capture PATH BYTES SEED [PART]`: a capture file in pcap format (Ethernet, IPv4, UDP, valid checksums,
 * mixed packet sizes) of exactly BYTES bytes, the same for the same seed on every machine. A file that is there already
 * is kept when its digest is the one that was noted when it was made; the note (PATH.digest) also has what the consumers of
 * `read` must come to. Standard output says what was done:
 * `made|kept BYTES bytes RECORDS records digest DIGEST`; standard error says why it was not: exit status 3, or 4 where
 * there is no room. PART is its name until it is whole, where the file system has no files without one. */
#include "core.h"
#include "verb.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

enum {
    FILE_HEADER = 24, RECORD_HEADER = 16, ETHERNET = 14, IPV4 = 20, UDP = 8,
    SMALLEST_FRAME = 60, LARGEST_FRAME = 1514, SMALLEST_RECORD = RECORD_HEADER + SMALLEST_FRAME,
    SMALLEST_FILE = FILE_HEADER + SMALLEST_RECORD, PIECE = 1 << 20, TMPFS = 0x01021994,
};

/* A capture on its way to the disk, and the digest of what has gone there. */
struct capture {
    const char *path;
    const char *part;    /* its name until it is whole */
    bool named;          /* it has that name now */
    int fd;
    unsigned char *piece;
    size_t held;         /* bytes of the piece; a multiple of 8 has gone before it */
    uint64_t seed, sum, weight, records, payload_words, random, time_us;
    uint64_t plain, touched;    /* of the file: the sum of its 8-byte words, and of the bytes at multiples of 4096 */
    uint64_t headers, payload;  /* of its packets: what a walk of the headers comes to, and one of all their bytes */
};

__attribute__((noreturn)) static void give_up(const struct capture *c, int status, const char *what, const char *why)
{
    if (c->named)
        unlink(c->part);
    dprintf(2, "make-capture: %s: %s\n", what, why);
    _exit(status);
}

/* ---- the digest of PROTOCOL.md, piece by piece; all pieces but the last are whole words ---- */

static uint64_t word_at(const unsigned char *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

/* The first bytes of a word, which are its lowest ones, and zeros. */
static uint64_t cut(uint64_t word, size_t bytes)
{
    return bytes < 8 ? word & ((UINT64_C(1) << 8 * bytes) - 1) : word;
}

/* Reads up to 7 bytes behind the piece. */
static void digest_piece(struct capture *c, const unsigned char *data, size_t bytes)
{
    uint64_t sum = c->sum, weight = c->weight, plain = c->plain;
    for (size_t i = 0; i < bytes; i += 8, weight += 2) {
        uint64_t word = cut(word_at(data + i), bytes - i);
        sum += word * weight;
        plain += word;
        if (weight / 2 % 512 == 0)
            c->touched += word & 0xff;
    }
    c->sum = sum;
    c->plain = plain;
    c->weight = weight;
}

/* What the consumers of `read` must come to, written down from what it means and not from how they do it: a record's header
 * and payload sum are mixed, and weighted by the record's number. */
static uint64_t rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t mixed(uint64_t number, const unsigned char *record, uint64_t payload)
{
    uint64_t x = rotated(word_at(record) * 0x9E3779B97F4A7C15u, 23) ^ word_at(record + 8);
    x = rotated(x * 0xBF58476D1CE4E5B9u, 29) ^ payload;
    x *= 0x94D049BB133111EBu;
    return (x ^ x >> 32) * (2 * number + 1);
}

/* Reads up to 7 bytes behind the record, which are zeros. */
static void expect_record(struct capture *c, const unsigned char *record, size_t frame)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < frame; i += 8)
        sum += word_at(record + RECORD_HEADER + i);
    c->headers += mixed(c->records, record, 0);
    c->payload += mixed(c->records, record, sum);
}

/* The number of records and of the bytes in them is part of what the walks come to. */
static uint64_t walk_end(const struct capture *c, uint64_t bytes, uint64_t fold)
{
    return fold ^ c->records * 0x9E3779B97F4A7C15u ^ (bytes - FILE_HEADER - RECORD_HEADER * c->records);
}

static uint64_t digest_end(const struct capture *c, uint64_t bytes)
{
    return c->sum + bytes * 0x9E3779B97F4A7C15u;
}

/* ---- packets ---- */

static uint64_t next_random(struct capture *c)
{
    uint64_t x = c->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    c->random = x;
    return (x * 0x2545F4914F6CDD1Du) >> 32;
}

static void big16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
}

static void little32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* One's complement sum of RFC 1071 over an even number of bytes, not yet folded to 16 bits. */
static uint64_t checksum_add(uint64_t sum, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 2)
        sum += (unsigned)data[i] << 8 | data[i + 1];
    return sum;
}

static unsigned checksum_end(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (unsigned)(~sum & 0xffff);
}

/* Small, middling and full packets in the proportions 7 : 4 : 1 of the usual Internet mix. */
static size_t frame_bytes(struct capture *c, uint64_t left)
{
    uint64_t kind = next_random(c) % 12, size = next_random(c);
    size_t frame = kind < 7 ? SMALLEST_FRAME + size % 31 : kind < 11 ? 300 + size % 500 : 1400 + size % 115;
    if (RECORD_HEADER + frame + SMALLEST_RECORD <= left)
        return frame;
    /* Nothing shorter than the shortest record may be left over: this is the last record, or the last but one. */
    return left <= RECORD_HEADER + LARGEST_FRAME ? left - RECORD_HEADER : left - RECORD_HEADER - SMALLEST_RECORD;
}

/* The pattern as a packet's bytes, and zeros up to the next multiple of 8. Returns what they add to the packet's checksum: that
 * sum may be taken over words of any width, in either byte order, and is turned at its end (RFC 1071). */
static uint64_t put_payload(struct capture *c, unsigned char *payload, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = cut(pattern_word(c->seed, c->payload_words++), bytes - i);
        memcpy(payload + i, &word, sizeof word);
        sum += (word & UINT32_MAX) + (word >> 32);
    }
    return __builtin_bswap16((uint16_t)~checksum_end(sum));
}

/* The headers of a packet whose payload adds this to its checksum. */
static void put_headers(struct capture *c, unsigned char *frame, size_t bytes, uint64_t payload_sum)
{
    uint64_t flow = next_random(c);
    unsigned char *ip = frame + ETHERNET, *udp = ip + IPV4;
    size_t ip_bytes = bytes - ETHERNET, udp_bytes = ip_bytes - IPV4;
    /* Locally administered addresses, ports of the dynamic range: nobody's traffic, and no protocol to be guessed from it. */
    memcpy(frame, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\0", ETHERNET);
    memcpy(ip, "\x45\0\0\0\0\0\x40\0\x40\x11\0\0\x0a\0\0\0\x0a\x01\0\0", IPV4);
    big16(ip + 2, (unsigned)ip_bytes);
    big16(ip + 4, (unsigned)c->records);
    big16(ip + 14, (unsigned)(flow & 0x3ff));
    big16(ip + 18, (unsigned)(flow >> 10 & 0x3ff));
    big16(ip + 10, checksum_end(checksum_add(0, ip, IPV4)));
    big16(udp, 49152 + (unsigned)(flow >> 20 & 0xfff));
    big16(udp + 2, 50000);
    big16(udp + 4, (unsigned)udp_bytes);
    big16(udp + 6, 0);
    unsigned sum = checksum_end(checksum_add(checksum_add(17 + udp_bytes + payload_sum, ip + 12, 8), udp, UDP));
    big16(udp + 6, sum ? sum : 0xffff);
}

static void put_record(struct capture *c, unsigned char *at, size_t frame)
{
    c->time_us += 1 + next_random(c) % 64;
    little32(at, (uint32_t)(c->time_us / 1000000));
    little32(at + 4, (uint32_t)(c->time_us % 1000000));
    little32(at + 8, (uint32_t)frame);
    little32(at + 12, (uint32_t)frame);
    const size_t headers = ETHERNET + IPV4 + UDP;
    uint64_t payload_sum = put_payload(c, at + RECORD_HEADER + headers, frame - headers);
    put_headers(c, at + RECORD_HEADER, frame, payload_sum);
    memset(at + RECORD_HEADER + frame, 0, 8);
    expect_record(c, at, frame);
    c->records++;
}

/* ---- the file ---- */

static void write_piece(struct capture *c, size_t bytes)
{
    digest_piece(c, c->piece, bytes);
    for (size_t done = 0; done < bytes;) {
        ssize_t wrote = write(c->fd, c->piece + done, bytes - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            give_up(c, errno == ENOSPC ? 4 : 3, c->path, strerror(errno));
        done += (size_t)wrote;
    }
    c->held -= bytes;
    memmove(c->piece, c->piece + bytes, c->held);
}

static uint64_t memory_available(void)
{
    unsigned long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %lu kB", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return (uint64_t)kib * 1024;
}

static void check_room(struct capture *c, int directory, uint64_t bytes)
{
    struct statvfs room;
    struct statfs kind;
    if (fstatvfs(directory, &room) != 0 || fstatfs(directory, &kind) != 0)
        give_up(c, 3, c->path, strerror(errno));
    uint64_t left = (uint64_t)room.f_bavail * room.f_frsize;
    const char *where = "on its file system";
    if (kind.f_type == TMPFS && memory_available() < left) {
        left = memory_available();
        where = "in memory, where tmpfs keeps its files";
    }
    if (left < bytes)
        give_up(c, 4, c->path, arena_text("no room: %llu bytes are needed and %llu are free %s",
                                          (unsigned long long)bytes, (unsigned long long)left, where));
}

/* A file without a name leaves nothing behind when this process is killed; where the file system has none of these, the
 * part file has a name of its own from the start. */
static void open_part(struct capture *c, const char *directory)
{
    c->fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (c->fd >= 0)
        return;
    c->fd = open(c->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (c->fd < 0)
        give_up(c, 3, c->part, strerror(errno));
    c->named = true;
}

static void name_part(struct capture *c)
{
    if (fsync(c->fd) != 0)
        give_up(c, 3, c->path, strerror(errno));
    if (!c->named &&
        linkat(AT_FDCWD, arena_text("/proc/self/fd/%d", c->fd), AT_FDCWD, c->part, AT_SYMLINK_FOLLOW) != 0)
        give_up(c, 3, c->part, strerror(errno));
    c->named = true;
    if (rename(c->part, c->path) != 0)
        give_up(c, 3, c->path, strerror(errno));
    c->named = false;
}

static void make(struct capture *c, uint64_t bytes)
{
    /* snapshot length 262144, link type 1 (Ethernet); see pcap-savefile(5) */
    memcpy(c->piece, "\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0", FILE_HEADER);
    c->held = FILE_HEADER;
    for (uint64_t left = bytes - FILE_HEADER; left;) {
        size_t frame = frame_bytes(c, left);
        put_record(c, c->piece + c->held, frame);
        c->held += RECORD_HEADER + frame;
        left -= RECORD_HEADER + frame;
        if (c->held >= PIECE)
            write_piece(c, PIECE);
    }
    write_piece(c, c->held);
}

/* What was noted beside a file when it was made; false where there is no such note for these bytes and this seed, or only
 * that of an older version, which had no words for the consumers. */
static bool noted(const char *note, uint64_t bytes, uint64_t seed, unsigned long long *records, unsigned long long *digest)
{
    unsigned long long note_bytes = 0, note_seed = 0, touched;
    int fd = open(note, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    const char *form = "%llu bytes seed %llu %llu records digest %llx sum %*x payload %*x headers %*x touched %llx";
    int fields = file ? fscanf(file, form, &note_bytes, &note_seed, records, digest, &touched) : 0;
    if (file)
        fclose(file);
    return fields == 5 && note_bytes == bytes && note_seed == seed;
}

static bool is_whole(struct capture *c, const char *note, uint64_t bytes, unsigned long long *records,
                     unsigned long long *digest)
{
    if (!noted(note, bytes, c->seed, records, digest))
        return false;
    struct stat status;
    int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool whole = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && (uint64_t)status.st_size == bytes;
    for (uint64_t at = 0; whole && at < bytes;) {
        ssize_t got = pread(fd, c->piece, PIECE, (off_t)at);
        whole = got == PIECE || (got > 0 && at + (uint64_t)got == bytes);
        if (whole)
            digest_piece(c, c->piece, (size_t)got);
        at += (uint64_t)got;
    }
    if (fd >= 0)
        close(fd);
    whole = whole && digest_end(c, bytes) == *digest;
    c->sum = c->plain = c->touched = 0;
    c->weight = 1;
    return whole;
}

static void note_down(struct capture *c, const char *note, uint64_t bytes, unsigned long long digest)
{
    const char *text = arena_text("%llu bytes seed %llu %llu records digest %016llx\n"
                                  "sum %016llx\npayload %016llx\nheaders %016llx\ntouched %016llx\n",
                                  (unsigned long long)bytes, (unsigned long long)c->seed, (unsigned long long)c->records,
                                  digest, (unsigned long long)c->plain,
                                  (unsigned long long)walk_end(c, bytes, c->payload),
                                  (unsigned long long)walk_end(c, bytes, c->headers), (unsigned long long)c->touched);
    int fd = open(note, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        give_up(c, 3, note, strerror(errno));
    close(fd);
}

static bool whole_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static int make_capture_main(int argc, char **argv)
{
    static struct capture c = {.weight = 1, .fd = -1};
    uint64_t bytes;
    if (!whole_number(argv[1], &bytes) || !whole_number(argv[2], &c.seed)) {
        dprintf(2, "make-capture: BYTES and SEED are whole numbers\n");
        return 2;
    }
    c.path = argv[0];
    c.part = argc == 4 ? argv[3] : arena_text("%s.%d.part", c.path, getpid());
    c.random = c.seed | 1;
    c.time_us = 1000000000000000;
    c.piece = arena(PIECE + RECORD_HEADER + LARGEST_FRAME + FILE_HEADER + 8);
    if (bytes < SMALLEST_FILE)
        give_up(&c, 3, c.path, arena_text("a capture with one packet has at least %d bytes", SMALLEST_FILE));
    const char *note = arena_text("%s.digest", c.path), *slash = strrchr(c.path, '/');
    const char *directory = slash ? arena_text("%.*s", (int)(slash - c.path) + 1, c.path) : ".";
    unsigned long long records = 0, digest = 0;
    bool kept = is_whole(&c, note, bytes, &records, &digest);
    if (!kept) {
        int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (parent < 0)
            give_up(&c, 3, directory, strerror(errno));
        check_room(&c, parent, bytes);
        open_part(&c, directory);
        make(&c, bytes);
        digest = digest_end(&c, bytes);
        records = c.records;
        /* A note that belongs to another file must not stand beside this one, not even for a moment. */
        unlink(note);
        name_part(&c);
        note_down(&c, note, bytes, digest);
    }
    printf("%s %llu bytes %llu records digest %016llx\n", kept ? "kept" : "made", (unsigned long long)bytes, records, digest);
    return fflush(stdout) == 0 ? 0 : 3;
}

VERB("make-capture", "PATH BYTES SEED [PART]", make_capture_main);
