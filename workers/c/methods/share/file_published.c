#include "published.h"
#include <fcntl.h>
#include <stdio.h>

static void run(struct slot *s)
{
    share_begin_alone(s);
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
        fail(s, "open");
    unlink(path); /* nothing of the name is left, also if this process is killed */
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    if (share_in_memory(s, fd))
        skip(s, "the directory for files lies in memory; name one on a disk");
    share_check_room(s, fd);
    share_proof(s, p, path);
    published_write(s, p, fd);
    int left;
    PHASE(s, "unmap") {
        left = munmap(p, bytes);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
}

/* With large folios one fault may map several pages, so no law counts them. */
METHOD(share_file_published, .experiment = "share", .name = "file-published", .role = "published", .group = "published",
       .summary = "The P1 job as published: a file on a disk's file system, untouched before, and rand() % size in the loop.",
       .phases = PUBLISHED_PHASES, .keys = PUBLISHED_KEYS, .memory = "bytes + bytes / 8",
       .laws = "in_memory == 0; random-write.minor_faults + random-write.major_faults >= 1; " PUBLISHED_LAWS,
       .calls = "map:openat,ftruncate,mmap unmap:munmap,close", .isolation = "own", .run = run);
