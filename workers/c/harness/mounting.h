/* File systems of this program's own: on loop devices, or mounted nowhere, so that only a descriptor has them and the kernel
 * takes all of it away with its last user. Never timed. */
#ifndef PAGEWISE_MOUNTING_H
#define PAGEWISE_MOUNTING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mount_option {
    const char *key, *value;
};

enum { NO_FILE_SYSTEM = -1, NO_SUCH_OPTION = -2 }; /* both with errno */

/* A descriptor of the root of a file system that is mounted nowhere. NO_FILE_SYSTEM: the kernel has no such type (ENODEV), or
 * does not allow it; NO_SUCH_OPTION: it refuses the options, which end with a key of NULL. */
int mount_nowhere(const char *type, const struct mount_option *options);
/* A free loop device over a file: its descriptor, and its path. It is free again when nothing uses it. -1: there is none. */
int loop_over(int file, uint32_t flags, char *path, size_t room);
/* mkfs of that type, quietly, with further words (or NULL); false where it is not there, or failed. */
bool format_as(const char *type, const char *path, char *const words[]);
#endif
