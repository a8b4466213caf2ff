#include "share.h"
#include <fcntl.h>
#include <stdio.h>

static void run(struct slot *s)
{
    share_begin(s);
    char name[256];
    snprintf(name, sizeof name, "/%s-share", launch_name());
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    }
    if (fd < 0)
        fail(s, "shm_open");
    shm_unlink(name); /* nothing of the name is left, also if this process is killed */
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    share_check_room(s, fd);
    share_proof(s, p, "/dev/shm/");
    share_use(s, p);
    PHASE(s, "unmap") {
        munmap(p, bytes);
        close(fd);
    }
}

METHOD(share_posix_shm, .experiment = "share", .name = "posix-shm",
       .summary = "A POSIX shared memory object: shm_open, ftruncate, mmap(MAP_SHARED).",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes", .laws = SHARE_LAWS,
       .calls = "map:openat,ftruncate,mmap unmap:munmap,close", .run = run);
