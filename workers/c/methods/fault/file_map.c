#include "kinds.h"

/* How far the kernel maps around a fault. Where nobody can ask it, nobody has changed it from the kernel's own 64 KiB. */
static uint64_t fault_around_bytes(const struct slot *s)
{
    uint64_t around = number_in("/sys/kernel/debug/fault_around_bytes", 65536);
    return around > s->page_bytes ? around : s->page_bytes;
}

static void run(struct slot *s)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    struct kind_file file = kind_file(s, true);
    map_file(s, &file, PROT_READ);
    char *p = file.p;
    PARALLEL_PHASE(s, "first-read") { on_every_thread(s, read_pages, p, bytes, 0); }
    fact(s, "fault_around_bytes", fault_around_bytes(s));
    fact(s, "present_bytes", s->proofs ? mapped_present_bytes(s, p, bytes) : 0);
    fact(s, "huge_bytes", resident_in(s, p, bytes).huge_bytes);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PARALLEL_PHASE(s, "re-read") { on_every_thread(s, read_pages, p, bytes, 0); }
    kind_unmap(s, p);
    close(file.descriptor);
}

/* One fault maps what is cached within `fault_around_bytes`, or a huge folio whole. */
METHOD(fault_file_map, .experiment = "fault", .name = "file-map", .group = THERE_GROUP,
       .summary = "Map a file that is in the page cache and read one byte of each page: one fault maps several pages.",
       .phases = "map first-read re-read unmap", .keys = "bytes:size threads:count", .memory = "bytes",
       .laws = "before.rss_bytes == 0; present_bytes == bytes; first-read.major_faults == 0; "
               "first-read.minor_faults <= threads + bytes / fault_around_bytes; "
               "first-read.minor_faults >= bytes / huge_page_bytes; re-read.minor_faults == 0" "; " THREADS_LAWS,
       .calls = "map:mmap unmap:munmap", .run = run);
