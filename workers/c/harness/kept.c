/* The laboratory's file in memory, which stays from launch to launch. */
#include "core.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Memory that stays from launch to launch: a host that takes idle page frames back needs a second to give 512 MiB anew. It is
 * the laboratory's file in memory, by this path, with notes behind what a sweep may take; -1 where there is none. */
int kept_file(size_t notes_bytes)
{
    const char *path = getenv("PAGEWISE_SWEPT");
    struct stat status;
    /* Only a process's descriptor: a name that stands in somebody's environment might be a file of his. */
    int fd = path && strncmp(path, "/proc/", 6) == 0 && !strstr(path, "..") ? open(path, O_RDWR | O_CLOEXEC) : -1;
    off_t end = (off_t)(MOST_SWEPT_BYTES + notes_bytes);
    if (fd >= 0 && (fstat(fd, &status) != 0 || (status.st_size < end && ftruncate(fd, end) != 0))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void *kept_notes(size_t bytes)
{
    int fd = kept_file(bytes);
    if (fd < 0)
        return NULL;
    void *notes = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)MOST_SWEPT_BYTES);
    close(fd);
    return notes == MAP_FAILED ? NULL : notes;
}
