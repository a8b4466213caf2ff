#include "kinds.h"

static void run(struct slot *s)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    struct kind_file file = kind_file(s, true);
    map_file(s, &file, PROT_READ | PROT_WRITE);
    char *p = file.p, mark = page_mark(s);
    pool_wake(s);
    on_every_thread(s, touch_pages, p, bytes, mark);
    fact(s, "dirty_bytes", s->proofs ? smaps_bytes(s, p, "Shared_Dirty") + smaps_bytes(s, p, "Private_Dirty") : 0);
    if (fdatasync(file.descriptor) != 0)
        fail(s, "fdatasync");
    fact(s, "present_bytes", s->proofs ? mapped_present_bytes(s, p, bytes) : 0);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    fact(s, "huge_bytes", resident_in(s, p, bytes).huge_bytes);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PARALLEL_PHASE(s, "re-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    kind_unmap(s, p);
    close(file.descriptor);
}

METHOD(fault_file_write, .experiment = "fault", .name = "file-write", .group = THERE_GROUP,
       .summary = "Write to each page of a mapped file after write-back has protected it: its file system is asked each time.",
       .phases = "map first-touch re-touch unmap", .keys = "bytes:size threads:count", .memory = "bytes",
       .laws = "before.rss_bytes == 0; dirty_bytes == bytes; present_bytes == bytes; first-touch.major_faults == 0; "
               FAULT_A_PAGE("first-touch") "; " RE_TOUCH_LAW "; " THREADS_LAWS,
       .calls = "map:mmap unmap:munmap", .run = run);
