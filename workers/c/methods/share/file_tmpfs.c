#include "share.h"
#include <fcntl.h>
#include <stdio.h>

static void run(struct slot *s)
{
    share_begin(s);
    char path[256];
    snprintf(path, sizeof path, "/dev/shm/%s-file", launch_name());
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p = MAP_FAILED;
    int fd = -1, sized = -1;
    PHASE(s, "map") {
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 && (sized = ftruncate(fd, (off_t)bytes)) == 0)
            p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
    }
    if (fd < 0)
        fail(s, "open /dev/shm");
    unlink(path); /* nothing of the name is left, also if this process is killed */
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    if (!share_in_memory(s, fd))
        skip(s, "/dev/shm is no tmpfs here: mount -t tmpfs tmpfs /dev/shm");
    share_check_room(s, fd);
    share_proof(s, p, "/dev/shm/");
    share_use(s, p);
    PHASE(s, "unmap") {
        munmap(p, bytes);
        close(fd);
    }
}

METHOD(share_file_tmpfs, .experiment = "share", .name = "file-tmpfs",
       .summary = "A file on tmpfs (/dev/shm): open, ftruncate, mmap(MAP_SHARED); any program can open it by its path.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = "bytes", .laws = "in_memory == 1; " SHARE_LAWS,
       .calls = "map:openat,ftruncate,mmap unmap:munmap,close", .run = run);
