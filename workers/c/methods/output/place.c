/* Where the `output` methods put their file. File systems that are asked for by name lie in memory: a loop device over a memory
 * file, or a tmpfs. They are mounted nowhere: only a descriptor has them, so that the kernel takes all of it away when the
 * process ends, however it ends. */
#include "output.h"
#include <linux/loop.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Numbers of Linux 5.2 that older headers lack, the same on every architecture. */
enum { FSOPEN = 430, FSCONFIG = 431, FSMOUNT = 432, SET_STRING = 1, CREATE = 6 };
#ifndef LOOP_CONFIGURE
#define LOOP_CONFIGURE 0x4C0A
struct loop_config {
    __u32 fd, block_size;
    struct loop_info64 info;
    __u64 reserved[8];
};
#endif

extern char **environ;
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
    int context = (int)syscall(FSOPEN, type, 1), mount = -1;
    if (context < 0)
        skip(s, errno == ENODEV ? "this kernel does not have that file system" : no_rights);
    if (syscall(FSCONFIG, context, SET_STRING, key, value, 0) == 0 && syscall(FSCONFIG, context, CREATE, NULL, NULL, 0) == 0)
        mount = (int)syscall(FSMOUNT, context, 1, 0);
    int error = errno;
    close(context);
    errno = error;
    if (mount < 0)
        skip(s, refused("fsconfig", "the kernel refuses this file system, or its options"));
    return mount;
}

/* mkfs of that type over the memory file, told nothing that is not usual. */
static void format(struct slot *s, const char *type, const char *path)
{
    char program[32];
    int status = -1;
    pid_t child;
    posix_spawn_file_actions_t quiet;
    snprintf(program, sizeof program, "mkfs.%s", type);
    char *force = type[0] == 'e' ? "-F" : "-f", *words[] = {program, "-q", force, (char *)path, NULL};
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&child, program, &quiet, NULL, words, environ);
    posix_spawn_file_actions_destroy(&quiet);
    while (error == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (error || status != 0)
        skip(s, arena_text("%s is not there, or failed", program));
}

static int on_loop(struct slot *s, const char *type)
{
    char path[64];
    struct loop_config config = {.info.lo_flags = LO_FLAGS_AUTOCLEAR};
    int memory = memfd_create("pagewise-disk", memfd_flags()), device = -1;
    if (memory < 0)
        fail(s, "memfd_create");
    check_done(s, ftruncate(memory, (off_t)2 << 30), "ftruncate");
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), memory);
    format(s, type, path);
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    config.fd = (__u32)memory;
    for (int tries = 0; control >= 0 && device < 0 && tries < 16; tries++) {
        snprintf(path, sizeof path, "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
        device = open(path, O_RDWR | O_CLOEXEC);
        if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &config) != 0) { /* another process was quicker */
            close(device);
            device = -1;
        }
    }
    if (control >= 0)
        close(control);
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
