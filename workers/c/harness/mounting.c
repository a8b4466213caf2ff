/* See mounting.h. */
#include "mounting.h"
#include "core.h"
#include <fcntl.h>
#include <linux/loop.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Numbers of Linux 5.2 that older headers lack, the same on every architecture. */
enum { FSOPEN = 430, FSCONFIG = 431, FSMOUNT = 432, SET_STRING = 1, CREATE = 6, FORMAT_WORDS = 16 };
#ifndef LOOP_CONFIGURE
#define LOOP_CONFIGURE 0x4C0A
struct loop_config {
    __u32 fd, block_size;
    struct loop_info64 info;
    __u64 reserved[8];
};
#endif

extern char **environ;

int mount_nowhere(const char *type, const struct mount_option *options)
{
    int context = (int)syscall(FSOPEN, type, 1), mount = NO_SUCH_OPTION;
    if (context < 0)
        return NO_FILE_SYSTEM;
    bool taken = true;
    for (; taken && options->key; options++)
        taken = syscall(FSCONFIG, context, SET_STRING, options->key, options->value, 0) == 0;
    if (taken && syscall(FSCONFIG, context, CREATE, NULL, NULL, 0) == 0)
        mount = (int)syscall(FSMOUNT, context, 1, 0);
    int error = errno;
    close(context);
    errno = error;
    return mount < 0 ? NO_SUCH_OPTION : mount;
}

bool format_as(const char *type, const char *path, char *const words[])
{
    char program[32];
    int status = -1, count = 0;
    pid_t child;
    posix_spawn_file_actions_t quiet;
    snprintf(program, sizeof program, "mkfs.%s", type);
    char *all[FORMAT_WORDS + 5] = {program, "-q", type[0] == 'e' ? "-F" : "-f"};
    for (count = 3; words && *words && count < FORMAT_WORDS + 3; words++)
        all[count++] = *words;
    all[count] = (char *)path;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&child, program, &quiet, NULL, all, environ);
    posix_spawn_file_actions_destroy(&quiet);
    while (error == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return error == 0 && status == 0;
}

int loop_over(int file, uint32_t flags, char *path, size_t room)
{
    struct loop_config config = {.fd = (__u32)file, .info.lo_flags = LO_FLAGS_AUTOCLEAR | flags};
    int device = -1, control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    for (int tries = 0; control >= 0 && device < 0 && tries < 16; tries++) {
        snprintf(path, room, "/dev/loop%d", ioctl(control, LOOP_CTL_GET_FREE));
        device = open(path, O_RDWR | O_CLOEXEC);
        if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &config) != 0) { /* another process was quicker */
            close(device);
            device = -1;
        }
    }
    if (control >= 0)
        close(control);
    return device;
}
