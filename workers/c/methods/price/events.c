#include "price.h"

static void run(struct slot *s)
{
    struct prices p;
    price_begin(s, &p);
    char mark = (char)(s->seed | 1), byte = 0;
    s->ops = p.pages;
    PHASE(s, "zero-read") { byte = read_each(p.fresh, p.bytes, p.page); }
    PHASE(s, "zero-write") { write_each(p.fresh, p.bytes, p.page, mark); }
    PHASE(s, "file-map") { byte = (char)(byte + read_each(p.mapped, p.bytes, p.page)); }
    PHASE(s, "file-write") { write_each(p.mapped, p.bytes, p.page, mark); }
    PHASE(s, "read-calls") { p.done[0] = one_byte_reads(&p); }
    PHASE(s, "write-calls") { p.done[1] = one_byte_writes(&p); }
    s->ops = p.bytes / p.chunk;
    PHASE(s, "read-bytes") { p.done[2] = chunk_reads(&p); }
    PHASE(s, "write-bytes") { p.done[3] = chunk_writes(&p, p.file); }
    PHASE(s, "write-new") { p.done[4] = chunk_writes(&p, p.new_file); }
    fact(s, "read_byte", (uint64_t)(unsigned char)byte);
    price_end(s, &p);
}

METHOD(price_events, .experiment = "price", .name = "events",
       .summary = "What reading and writing fresh memory, a file's mapping and a file by calls cost, each once in a fresh process.",
       .phases = "zero-read zero-write file-map file-write read-calls write-calls read-bytes write-bytes write-new",
       .keys = "bytes:size", .memory = "5 * bytes",
       .laws = "zero-read.minor_faults == bytes / page_bytes; zero-write.minor_faults == bytes / page_bytes; "
               "file-map.minor_faults >= 1; file-write.minor_faults == bytes / page_bytes; read-calls.minor_faults == 0; "
               "write-calls.minor_faults == 0; failed_calls == 0; read_byte == 0",
       .calls = "read-calls:pread64 write-calls:pwrite64 read-bytes:pread64 write-bytes:pwrite64 write-new:pwrite64",
       .run = run);
