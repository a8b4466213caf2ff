/* Sets up and checks what the `price` methods measure. */
#include "price.h"
#include <fcntl.h>
#include <stdio.h>

enum { CHUNK = 128 << 10 };

static int unnamed_file(struct slot *s)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/price-file-%d", launch_directory(), getpid());
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        fail(s, "open");
    unlink(path);
    return file;
}

void price_begin(struct slot *s, struct prices *p)
{
    memset(p, 0, sizeof *p);
    p->bytes = s->bytes;
    p->page = s->page_bytes;
    p->pages = p->bytes / p->page;
    p->chunk = CHUNK;
    if (p->bytes % CHUNK)
        skip(s, "bytes is no multiple of 128 KiB");
    fact(s, "footprint_bytes", s->bytes);
    p->file = unnamed_file(s);
    p->new_file = unnamed_file(s);
    p->buffer = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    check_map(s, p->buffer);
    memset(p->buffer, 0, CHUNK);
    if (chunk_writes(p, p->file) != p->bytes / CHUNK)
        fail(s, "pwrite");
    p->mapped = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, p->file, 0);
    check_map(s, p->mapped);
    p->fresh = mmap(free_range(s, p->bytes), p->bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, p->fresh);
    madvise(p->fresh, p->bytes, MADV_NOHUGEPAGE);
    madvise(p->mapped, p->bytes, MADV_NOHUGEPAGE);
}

void price_end(struct slot *s, const struct prices *p)
{
    size_t chunks = p->bytes / p->chunk;
    fact(s, "failed_calls", 2 * p->pages + 3 * chunks - p->done[0] - p->done[1] - p->done[2] - p->done[3] - p->done[4]);
    munmap(p->fresh, p->bytes);
    munmap(p->mapped, p->bytes);
    munmap(p->buffer, p->chunk);
    close(p->file);
    close(p->new_file);
}
