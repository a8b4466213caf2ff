#include "share.h"
#include "writeback.h"
#include <fcntl.h>
#include <stdio.h>

static void attach(struct seat *b)
{
    b->call = "open";
    b->p = MAP_FAILED;
    int fd = open(b->name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    b->call = "mmap";
    b->p = mmap(b->at, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    b->left = close(fd);
}

static void run_b(struct slot *s)
{
    struct seat b = share_begin_b(s, NULL);
    snprintf(b.name, sizeof b.name, "%s/%s-share", launch_directory(), launch_name());
    remove_if_lost(b.name);
    meet(s);
    share_second(s, &b, attach, seat_unmap);
}

static void run(struct slot *s)
{
    share_begin(s, NULL);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-share", launch_directory(), launch_name());
    remove_if_lost(path); /* and side b removes it, if this process is killed */
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    }
    if (fd < 0)
        fail(s, "open");
    const char *obstacle = share_in_memory(s, fd) ? "the directory for files lies in memory; name one on a disk" : NULL;
    if (sized != 0 || p == MAP_FAILED || obstacle || !share_has_room(s, fd))
        unlink(path);
    share_mapped(s, obstacle);
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    share_check_room(s, fd);
    share_proof(s, p, path);
    share_touch(s, p);
    share_with_b(s, p, path);
    writeback_start(s, fd);
    share_write(s, p);
    fact(s, "redirtied_bytes", writeback_stop(s, fd)); /* first-touch had left all pages dirty */
    share_check_clear_read(s, p);
    int left;
    PHASE(s, "unmap") {
        left = munmap(p, bytes);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
}

/* File systems with large folios map many pages by one fault, so only the most is a law. The kernel may write dirty pages
 * back at any time and protects them again; a later store then faults, and so does one that was just let through. So no law
 * forbids such faults here, a first touch may meet a few, and with writeback=periodic they must be there. */
METHOD(share_file_disk, .experiment = "share", .name = "file-disk",
       .summary = "A file on a disk's file system: open, ftruncate, mmap(MAP_SHARED); its dirty pages are written back.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS " writeback:none|periodic", .memory = SHARE_MEMORY,
       .laws = "in_memory == 0; backed_as_named == 1; " SHARE_CONTENT_LAWS "; " SHARE_SECOND_LAWS "; " PIN_LAWS
               "; first-touch.minor_faults + first-touch.major_faults >= 1"
               "; first-touch.minor_faults + first-touch.major_faults <= bytes / page_bytes + 4"
               "; writeback=periodic: random-write.minor_faults >= 1; writeback=periodic: redirtied_bytes >= page_bytes",
       .calls = "map:openat,ftruncate,mmap attach:openat,mmap,close populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = run, .run_b = run_b);
