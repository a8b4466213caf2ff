/* Where the `output` methods put their file. File systems that are asked for by name lie in memory: a loop device over a memory
 * file, or a tmpfs. They are mounted nowhere: only a descriptor has them, so that the kernel takes all of it away when the
 * process ends, however it ends. */
#include "mounting.h"
#include "output.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char no_rights[] = "a file system of its own needs root, --allow-system-changes and Linux 5.8";
static struct {
    const char *place;
    int mount;
} made[8];

static int opened(struct slot *s, const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        fail(s, "open");
    return folder;
}

static char shared[256];
static pid_t maker;

static void remove_shared(void)
{
    if (getpid() == maker)
        rmdir(shared);
}

/* A folder in /dev/shm that only this user can enter, where a file may have the same name again and again. Its own name cannot
 * be foretold, and others cannot replace it there. */
static const char *own_folder(struct slot *s)
{
    struct stat status;
    snprintf(shared, sizeof shared, "/dev/shm/%s-place", launch_name());
    if (mkdir(shared, 0700) != 0 && errno != EEXIST)
        fail(s, "mkdir");
    check_done(s, lstat(shared, &status), "lstat");
    if (status.st_uid != geteuid() || (status.st_mode & 07777) != 0700)
        fail_because(s, "mkdir", "the folder is another user's");
    if (!maker)
        atexit(remove_shared);
    maker = getpid();
    return shared;
}

static int mounted(struct slot *s, const char *type, const char *key, const char *value)
{
    int mount = mount_nowhere(type, (const struct mount_option[]){{key, value}, {NULL, NULL}});
    if (mount == NO_FILE_SYSTEM)
        skip(s, errno == ENODEV ? "this kernel does not have that file system" : no_rights);
    if (mount < 0)
        skip(s, refused("fsconfig", "the kernel refuses this file system, or its options"));
    return mount;
}

/* mkfs of that type over the memory file, told nothing that is not usual. */
static int on_loop(struct slot *s, const char *type)
{
    char path[64];
    int memory = memfd_create("pagewise-disk", memfd_flags());
    if (memory < 0)
        fail(s, "memfd_create");
    check_done(s, ftruncate(memory, (off_t)2 << 30), "ftruncate");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), memory);
    if (!format_as(type, path, NULL))
        skip(s, arena_text("mkfs.%s is not there, or failed", type));
    int device = loop_over(memory, 0, path, sizeof path);
    close(memory);
    if (device < 0)
        skip(s, no_rights);
    int mount = mounted(s, type, "source", path);
    close(device);
    return mount;
}

int output_place(struct slot *s, const char *place)
{
    if (strcmp(place, "folder") == 0)
        return opened(s, launch_directory() ? launch_directory() : ".");
    if (strcmp(place, "tmpfs") == 0)
        return opened(s, own_folder(s));
    size_t i = 0;
    while (made[i].place && strcmp(made[i].place, place) != 0)
        i++;
    if (!made[i].place) {
        made[i].mount = strcmp(place, "tmpfs-huge") == 0 ? mounted(s, "tmpfs", "huge", "always") : on_loop(s, place);
        made[i].place = place;
    }
    int folder = openat(made[i].mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        fail(s, "openat");
    return folder;
}
