/* A file whose every request takes as long as it is told: a small server of the kernel's FUSE protocol. */
#ifndef PAGEWISE_STORAGE_H
#define PAGEWISE_STORAGE_H
#include "core.h"

#define STORAGE_FILE "disk"

/* Shared with the server, which reads it at each request. Both 0: a request takes what it takes. */
struct pace {
    volatile uint64_t latency_ns;  /* of each request, however many are under way */
    volatile uint64_t bytes_per_s; /* of all together */
};

/* What is taken away when the holder of the state has ended without doing so. */
struct leftover {
    char mount[4096];      /* or empty */
    char read_ahead[128];  /* file of the kernel, or empty */
    char kib[32];          /* its value before */
};

struct server {
    int fuse, memory; /* /dev/fuse, and the memory file that has the bytes */
    size_t bytes;
    struct pace *pace;             /* both shared between processes */
    struct leftover *left;
};

/* Serves until the file system is gone, or `holder`, the end of a pipe, has been closed for some seconds. */
__attribute__((noreturn)) void storage_serve(const struct server *server, int holder);
#endif
