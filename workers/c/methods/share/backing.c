/* What the `share` methods ask of file systems and of the pool of huge pages. */
#include "share.h"
#include <linux/magic.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/statfs.h>

static struct statfs file_system_of(struct slot *s, int fd)
{
    struct statfs about;
    if (fstatfs(fd, &about) != 0)
        fail(s, "fstatfs");
    return about;
}

static uint64_t room_at(struct slot *s, int fd)
{
    struct statfs about = file_system_of(s, fd);
    /* A tmpfs mounted without a size has no blocks to count. */
    return about.f_blocks ? (uint64_t)about.f_bavail * (uint64_t)about.f_bsize : UINT64_MAX;
}

bool share_has_room(struct slot *s, int fd)
{
    return room_at(s, fd) >= s->bytes;
}

void share_check_room(struct slot *s, int fd)
{
    static char reason[160];
    uint64_t room = room_at(s, fd);
    if (room >= s->bytes)
        return;
    snprintf(reason, sizeof reason, "the file system has %llu bytes free, %zu are needed", (unsigned long long)room, s->bytes);
    errno = ENOSPC;
    fail_because(s, "ftruncate", reason);
}

bool share_in_memory(struct slot *s, int fd)
{
    uint32_t magic = fact_file_system(s, fd);
    bool in_memory = magic == TMPFS_MAGIC || magic == RAMFS_MAGIC || magic == HUGETLBFS_MAGIC;
    fact(s, "in_memory", in_memory);
    return in_memory;
}

/* A number of /proc/sys; 0 where it cannot be read. */
static unsigned long long setting(const char *path)
{
    unsigned long long value = 0;
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%llu", &value) != 1)
        value = 0;
    if (file)
        fclose(file);
    return value;
}

const char *share_no_segment(struct slot *s)
{
    static char reason[320];
    int error = errno;
    unsigned long long largest = setting("/proc/sys/kernel/shmmax"), most = setting("/proc/sys/kernel/shmmni");
    struct shm_info now;
    if (error == EINVAL && s->bytes > largest) {
        snprintf(reason, sizeof reason, "a segment of %zu bytes is larger than kernel.shmmax (%llu): sudo sysctl kernel.shmmax=%zu",
                 s->bytes, largest, s->bytes);
        return reason;
    }
    if (error == EPERM || error == ENOSYS)
        return "System V segments are not permitted here (shmget: a seccomp filter, or a kernel without CONFIG_SYSVIPC)";
    if (error == ENOSPC && shmctl(0, SHM_INFO, (struct shmid_ds *)&now) >= 0) {
        snprintf(reason, sizeof reason,
                 "no segment is free: %d of kernel.shmmni=%llu are taken, %lu pages of kernel.shmall=%llu; ipcs -m names them",
                 now.used_ids, most, now.shm_tot, setting("/proc/sys/kernel/shmall"));
        errno = error;
        fail_because(s, "shmget", reason);
    }
    errno = error;
    fail(s, "shmget");
}

const char *share_check_huge(struct slot *s)
{
    return !s->huge_page_bytes || s->bytes % s->huge_page_bytes != 0 ? NO_WHOLE_HUGE_PAGES : NULL;
}

const char *share_empty_pool(struct slot *s)
{
    static char reason[200];
    size_t pages = s->bytes / s->huge_page_bytes;
    snprintf(reason, sizeof reason, "the huge page pool holds fewer than %zu free pages: sudo sysctl vm.nr_hugepages=%zu",
             pages, pages);
    return reason;
}
