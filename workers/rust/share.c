/* The untimed halves of the Rust methods of `share`. Their loops (share.rs) are called by the native worker's steps. */
#include "methods/share/loops.h"
#include "methods/share/memfd.h"
#include "rust.h"

/* std has no random generator: index=rand is another library's. */
#define RUST_ALONE_KEYS "bytes:size ops:count clear_bytes:size index:xorshift|table load:0|25%"

static void private_memory(struct slot *s)
{
    share_begin_alone(s);
    size_t bytes = s->bytes;
    char *at = free_range(s, bytes), *p;
    PHASE(s, "map") {
        p = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    check_map(s, p);
    share_proof(s, p, "");
    share_touch(s, p);
    fact(s, "small_folios", small_folios_granted(s, false));
    share_write(s, p);
    share_check_clear_read(s, p);
    int left;
    PHASE(s, "unmap") { left = munmap(p, bytes); }
    check_done(s, left, "munmap");
}

METHOD(rust_share_memfd, .experiment = "share", .name = "memfd",
       .summary = "A memory file without a name, used as a slice: each index is checked against its length.",
       .phases = SHARE_PHASES, .keys = RUST_ALONE_KEYS " " PIN_KEY, .memory = SHARE_MEMORY, .laws = SHARE_LAWS,
       .calls = "map:memfd_create,ftruncate,mmap attach:mmap populate:madvise,mlock? detach:munmap unmap:munmap,close",
       .run = memfd_run, .run_b = memfd_run_b);

METHOD(rust_share_private, .experiment = "share", .name = "anon-private", .role = "limit",
       .summary = "Anonymous private memory as a slice: what the same work costs where nothing is shared.",
       .phases = SHARE_FIRST_PHASES SHARE_LOOP_PHASES, .keys = RUST_ALONE_KEYS, .memory = "bytes + bytes / 8",
       .laws = "small_folios == 0: " SHARE_TOUCH_LAW "; first-touch.minor_faults >= 1; " SHARE_OTHER_LAWS,
       .calls = "map:mmap unmap:munmap", .run = private_memory);
