#include "share.h"
#include <fcntl.h>
#include <stdio.h>

static void attach(struct seat *b)
{
    b->call = "shm_open";
    b->p = MAP_FAILED;
    int fd = shm_open(b->name, O_RDWR, 0600);
    if (fd < 0)
        return;
    b->call = "mmap";
    b->p = mmap(b->at, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    b->left = close(fd);
}

static void run_b(struct slot *s)
{
    char path[256];
    struct seat b = share_begin_b(s, NULL);
    snprintf(b.name, sizeof b.name, "/%s-share", launch_name());
    snprintf(path, sizeof path, "/dev/shm/%s-share", launch_name());
    remove_if_lost(path);
    meet(s);
    share_second(s, &b, attach, seat_unmap);
}

static void run(struct slot *s)
{
    share_begin(s, NULL);
    char path[256], *name = path + strlen("/dev/shm");
    snprintf(path, sizeof path, "/dev/shm/%s-share", launch_name());
    remove_if_lost(path); /* and side b removes it, if this process is killed */
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
    if (sized != 0 || p == MAP_FAILED || !share_has_room(s, fd))
        shm_unlink(name);
    share_mapped(s, NULL);
    if (sized != 0)
        fail(s, "ftruncate");
    check_map(s, p);
    share_check_room(s, fd);
    share_proof(s, p, "/dev/shm/");
    share_use(s, p, path);
    int left;
    PHASE(s, "unmap") {
        left = munmap(p, bytes);
        left |= close(fd);
    }
    check_done(s, left, "munmap, close");
}

METHOD(share_posix_shm, .experiment = "share", .name = "posix-shm",
       .summary = "A POSIX shared memory object: shm_open, ftruncate, mmap(MAP_SHARED).",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY, .laws = SHARE_LAWS,
       .calls = "map:openat,ftruncate,mmap attach:openat,mmap,close populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = run, .run_b = run_b);
