/* Pipes whose size is what was asked for, and the probe that tells whether vmsplice shares pages or copies them. */
#ifndef PAGEWISE_PIPES_H
#define PAGEWISE_PIPES_H
#include "worker.h"
#include <fcntl.h>
#include <sys/uio.h>

/* A pipe of `bytes`, 0 for the default size, into `ends`. Returns NULL, or why there is no such pipe: sizes are never
 * rounded or cut silently. Records `granted_pipe_bytes`, as F_GETPIPE_SZ tells it. */
const char *pipe_open(struct slot *s, int ends[2], size_t bytes);
/* Records `vmsplice_shares_pages`: 1 where a write to a page after vmsplice() is seen by the pipe's reader, 0 where the kernel
 * had copied the page. Kernels differ. Returns NULL, or why vmsplice() cannot be used at all. */
const char *vmsplice_probe(struct slot *s, unsigned flags);
#endif
