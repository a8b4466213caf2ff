#include "memfd.h"

METHOD(share_memfd, .experiment = "share", .name = "memfd",
       .summary = "A memory file without a name (memfd_create): its descriptor is passed to whom it is shared with.",
       .phases = SHARE_PHASES, .keys = SHARE_KEYS, .memory = SHARE_MEMORY, .laws = SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap attach:mmap populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = memfd_run, .run_b = memfd_run_b);
