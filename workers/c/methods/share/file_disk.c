#include "share.h"
#include "writeback.h"
#include <fcntl.h>
#include <stdio.h>

static void run(struct slot *s)
{
    share_begin(s);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-share", launch_directory(), launch_name());
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    }
    if (fd < 0)
        fail(s, path);
    unlink(path); /* nothing of the name is left, also if this process is killed */
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    if (share_in_memory(s, fd))
        skip(s, "the directory for files lies in memory; name one on a disk");
    share_check_room(s, fd);
    share_proof(s, p, path);
    share_touch(s, p);
    writeback_start(s, fd);
    share_write(s, p);
    writeback_stop(s);
    share_check_clear_read(s, p);
    PHASE(s, "unmap") {
        munmap(p, bytes);
        close(fd);
    }
}

/* File systems with large folios map many pages by one fault, so only the most is a law. The kernel may write dirty pages
 * back at any time and protects them again; a later store then faults. So no law forbids such faults here; with
 * writeback=periodic they must be there. */
METHOD(share_file_disk, .experiment = "share", .name = "file-disk",
       .summary = "A file on a disk's file system: open, ftruncate, mmap(MAP_SHARED); its dirty pages are written back.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS " writeback:none|periodic", .memory = "bytes",
       .laws = "in_memory == 0; shared == 1; backed_as_named == 1; " SHARE_CONTENT_LAWS
               "; first-touch.minor_faults + first-touch.major_faults >= 1"
               "; first-touch.minor_faults + first-touch.major_faults <= bytes / page_bytes"
               "; writeback=periodic: random-write.minor_faults >= 1",
       .calls = "map:openat,ftruncate,mmap unmap:munmap,close", .run = run);
