/* What the `price` methods share: fresh memory, a file in the page cache that is mapped and read, the loops over both. */
#ifndef PAGEWISE_PRICE_H
#define PAGEWISE_PRICE_H
#include "worker.h"

struct prices {
    char *fresh, *mapped;      /* memory that nobody has touched; a private mapping of the file */
    char *buffer;              /* resident, of `chunk` bytes */
    size_t bytes, page, pages, chunk;
    int file, new_file;        /* holds `bytes` zeros; holds nothing yet */
    size_t done[5];            /* calls that did all they were asked */
};

void price_begin(struct slot *s, struct prices *p);
void price_end(struct slot *s, const struct prices *p); /* records failed_calls */

/* The sum of the first bytes of all pages. */
__attribute__((unused)) static char read_each(const volatile char *p, size_t bytes, size_t page)
{
    char sum = 0;
    for (size_t i = 0; i < bytes; i += page)
        sum = (char)(sum + p[i]);
    return sum;
}

__attribute__((unused)) static void write_each(volatile char *p, size_t bytes, size_t page, char mark)
{
    for (size_t i = 0; i < bytes; i += page)
        p[i] = mark;
}

__attribute__((unused)) static size_t one_byte_reads(const struct prices *p)
{
    size_t done = 0;
    for (size_t i = 0; i < p->pages; i++)
        done += pread(p->file, p->buffer, 1, 0) == 1;
    return done;
}

__attribute__((unused)) static size_t one_byte_writes(const struct prices *p)
{
    size_t done = 0;
    for (size_t i = 0; i < p->pages; i++)
        done += pwrite(p->file, p->buffer, 1, 0) == 1;
    return done;
}

__attribute__((unused)) static size_t chunk_reads(const struct prices *p)
{
    size_t done = 0;
    for (size_t i = 0; i < p->bytes; i += p->chunk)
        done += pread(p->file, p->buffer, p->chunk, (off_t)i) == (ssize_t)p->chunk;
    return done;
}

__attribute__((unused)) static size_t chunk_writes(const struct prices *p, int file)
{
    size_t done = 0;
    for (size_t i = 0; i < p->bytes; i += p->chunk)
        done += pwrite(file, p->buffer, p->chunk, (off_t)i) == (ssize_t)p->chunk;
    return done;
}
#endif
