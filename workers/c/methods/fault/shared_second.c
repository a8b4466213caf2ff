#include "kinds.h"

static void run(struct slot *s)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    struct kind_file file = kind_file(s, false);
    map_file(s, &file, PROT_READ | PROT_WRITE);
    char *p = file.p, mark = page_mark(s);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    fault_proofs(s, p);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PARALLEL_PHASE(s, "re-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    kind_unmap(s, p);
    close(file.descriptor);
}

METHOD(fault_shared_second, .experiment = "fault", .name = "shared-second", .group = THERE_GROUP,
       .summary = "Map shared memory whose pages are there already and write to each: a fault without clearing a page.",
       .phases = "map first-touch re-touch unmap", .keys = "bytes:size threads:count", .memory = "bytes",
       .laws = "before.rss_bytes == 0; first-touch.rss_bytes == bytes; first-touch.major_faults == 0; "
               "huge_bytes == 0: " FAULT_A_PAGE("first-touch") "; " RE_TOUCH_LAW "; " THREADS_LAWS,
       .calls = "map:mmap unmap:munmap", .run = run);
