#include "write.h"
#include <stdio.h>

static int folder = -1;
static const char *name, *fresh;

/* Who reads the name finds the old record or the new one, never half of one; the folder has to be synced too. */
static bool put(struct store *st, const struct record *r)
{
    (void)st;
    int fd = openat(folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool right = write(fd, r->data, r->bytes) == (ssize_t)r->bytes && fsync(fd) == 0;
    right = close(fd) == 0 && right;
    return right && renameat(folder, fresh, folder, name) == 0 && fsync(folder) == 0;
}

static void run(struct slot *s)
{
    static char names[2][256];
    struct store st;
    store_open(s, &st, 0);
    snprintf(names[0], sizeof names[0], "%s-whole", launch_name());
    snprintf(names[1], sizeof names[1], "%s-fresh", launch_name());
    name = names[0];
    fresh = names[1];
    folder = open(launch_directory(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        fail(s, "open");
    write_phases(s, &st, put, "openat, write, fsync, close or renameat");
    store_replaced(s, &st, folder, name);
    unlinkat(folder, name, 0);
    close(folder);
    store_end(s, &st);
}

METHOD(write_rename_over, .experiment = "write", .name = "rename-over", .group = "replace",
       .summary = "A new file with the record, fsync(), rename() over the old one, fsync() of the folder: all or nothing.",
       .phases = WRITE_PHASES, .keys = "bytes:size ops:count file_bytes:size",
       .memory = "2 * file_bytes + 2 * ops * bytes", .laws = DURABLE_LAWS "; replaced == 1",
       .calls = "write:openat,write,fsync,close,renameat timed-write:openat,write,fsync,close,renameat", .run = run);
