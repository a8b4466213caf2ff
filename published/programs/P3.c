/* P3 as its article tells it, by Pagewise (the article's program is not public): a walk through a capture, packet by packet,
 * with every byte of each packet used. What its program did with them is not known; here, as in our rows, they are added up in
 * words of eight.
 * Build: cc -O3 -Wall -Wextra -o p3 p3.c
 * Run:   ./p3 make FILE 1115844608     makes a capture of that size
 *        sync; echo 3 > /proc/sys/vm/drop_caches; /usr/bin/time -v ./p3 fread FILE      (as root; the same for mmap, populate)
 *        cp FILE /dev/shm/; /usr/bin/time -v ./p3 mmap /dev/shm/FILE
 * fread: stdio's own buffer and a copy of each packet. mmap: MAP_SHARED. populate: MAP_PRIVATE | MAP_POPULATE.
 * A changed copy is compared by: pagewise bench --published P3 mine.c */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_HEADER = 24, PACKET_HEADER = 16, LONGEST = 65536 };

static uint64_t sum(const unsigned char *packet, uint32_t bytes)
{
    uint64_t total = 0, eight;
    uint32_t i = 0;
    for (; i + sizeof eight <= bytes; i += sizeof eight) {
        memcpy(&eight, packet + i, sizeof eight);
        total += eight;
    }
    for (; i < bytes; i++)
        total += packet[i];
    return total;
}

static uint32_t captured_bytes(const unsigned char *header)
{
    uint32_t bytes;
    memcpy(&bytes, header + 8, sizeof bytes);
    return bytes;
}

static int by_stream(const char *path, uint64_t *packets, uint64_t *total)
{
    static unsigned char header[FILE_HEADER], packet[LONGEST];
    FILE *file = fopen(path, "r");
    if (!file || fread(header, FILE_HEADER, 1, file) != 1)
        return -1;
    while (fread(header, PACKET_HEADER, 1, file) == 1) {
        uint32_t bytes = captured_bytes(header);
        if (bytes > LONGEST || fread(packet, 1, bytes, file) != bytes)
            break;
        *total += sum(packet, bytes);
        ++*packets;
    }
    return fclose(file);
}

static int by_mapping(const char *path, int flags, uint64_t *packets, uint64_t *total)
{
    int file = open(path, O_RDONLY);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0)
        return -1;
    size_t size = (size_t)about.st_size;
    unsigned char *start = mmap(NULL, size, PROT_READ, flags, file, 0);
    if (start == MAP_FAILED)
        return -1;
    for (size_t at = FILE_HEADER; at + PACKET_HEADER <= size;) {
        uint32_t bytes = captured_bytes(start + at);
        at += PACKET_HEADER;
        if (bytes > LONGEST || at + bytes > size)
            break;
        *total += sum(start + at, bytes);
        at += bytes;
        ++*packets;
    }
    munmap(start, size);
    return close(file);
}

static int make(const char *path, uint64_t size)
{
    static const unsigned char file_header[FILE_HEADER] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4};
    static unsigned char packet[PACKET_HEADER + 1500];
    FILE *file = fopen(path, "w");
    if (!file || fwrite(file_header, FILE_HEADER, 1, file) != 1)
        return -1;
    for (size_t i = PACKET_HEADER; i < sizeof packet; i++)
        packet[i] = (unsigned char)rand();
    for (uint64_t done = FILE_HEADER; done < size;) {
        uint32_t bytes = 60 + (uint32_t)rand() % 1441;
        memcpy(packet + 8, &bytes, sizeof bytes);
        memcpy(packet + 12, &bytes, sizeof bytes);
        if (fwrite(packet, PACKET_HEADER + bytes, 1, file) != 1)
            return -1;
        done += PACKET_HEADER + bytes;
    }
    return fclose(file);
}

int main(int argc, char **argv)
{
    uint64_t packets = 0, total = 0;
    int left = -1;
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        left = make(argv[2], strtoull(argv[3], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "fread") == 0)
        left = by_stream(argv[2], &packets, &total);
    else if (argc == 3 && strcmp(argv[1], "mmap") == 0)
        left = by_mapping(argv[2], MAP_SHARED, &packets, &total);
    else if (argc == 3 && strcmp(argv[1], "populate") == 0)
        left = by_mapping(argv[2], MAP_PRIVATE | MAP_POPULATE, &packets, &total);
    else
        return 2;
    if (left != 0)
        perror(argv[2]);
    else
        printf("%llu packets, sum %llu\n", (unsigned long long)packets, (unsigned long long)total);
    return left != 0;
}
