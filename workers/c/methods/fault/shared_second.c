#include "kinds.h"

/* Dirty pages that were written back, and are protected since. */
static void written_back(struct slot *s, const struct kind_file *file)
{
    pool_wake(s);
    on_every_thread(s, touch_pages, file->p, s->bytes, page_mark(s));
    fact(s, "dirty_bytes", s->proofs ? smaps_bytes(s, file->p, "Shared_Dirty") + smaps_bytes(s, file->p, "Private_Dirty") : 0);
    if (fdatasync(file->descriptor) != 0)
        fail(s, "fdatasync");
    fact(s, "present_bytes", s->proofs ? mapped_present_bytes(s, file->p, s->bytes) : 0);
}

static SHARED_BODY void run(struct slot *s, bool disk)
{
    fault_begin(s);
    size_t bytes = s->bytes;
    struct kind_file file = kind_file(s, disk);
    map_file(s, &file, PROT_READ | PROT_WRITE);
    char *p = file.p, mark = page_mark(s);
    if (disk)
        written_back(s, &file);
    PARALLEL_PHASE(s, "first-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    if (disk)
        fact(s, "huge_bytes", resident_in(s, p, bytes).huge_bytes);
    else
        fault_proofs(s, p);
    fact_digest(s, p, bytes);
    if (s->proofs)
        PARALLEL_PHASE(s, "re-touch") { on_every_thread(s, touch_pages, p, bytes, mark); }
    kind_unmap(s, p);
    close(file.descriptor);
}

static void in_memory(struct slot *s) { run(s, false); }
METHOD(fault_shared_second, .experiment = "fault", .name = "shared-second", .group = THERE_GROUP,
       .summary = "Map shared memory whose pages are there already and write to each: a fault without clearing a page.",
       .phases = "map first-touch re-touch unmap", .keys = "bytes:size threads:count", .memory = "bytes",
       .laws = "before.rss_bytes == 0; first-touch.rss_bytes == bytes; first-touch.major_faults == 0; "
               "huge_bytes == 0: " FAULT_A_PAGE("first-touch") "; " RE_TOUCH_LAW "; " THREADS_LAWS,
       .calls = "map:mmap unmap:munmap", .run = in_memory);

static void on_disk(struct slot *s) { run(s, true); }
METHOD(fault_file_write, .experiment = "fault", .name = "file-write", .group = THERE_GROUP,
       .summary = "Write to each page of a mapped file after write-back has protected it: its file system is asked each time.",
       .phases = "map first-touch re-touch unmap", .keys = "bytes:size threads:count", .memory = "bytes",
       .laws = "before.rss_bytes == 0; dirty_bytes == bytes; present_bytes == bytes; first-touch.major_faults == 0; "
               FAULT_A_PAGE("first-touch") "; " RE_TOUCH_LAW "; " THREADS_LAWS,
       .calls = "map:mmap unmap:munmap", .run = on_disk);
