#include "output.h"
#include <sys/uio.h>

enum { DONTCACHE = 0x80 }; /* RWF_DONTCACHE, Linux 6.14 */

static void write_uncached(struct output *o)
{
    for (size_t i = 0; i < o->steps && !o->failed; i++) {
        uint64_t start = now_ns();
        for (size_t done = 0, bytes = step_bytes(o, i); done < bytes && !o->failed;) {
            struct iovec piece = {(char *)o->source + o->at[i] + done, bytes - done};
            ssize_t put = pwritev2(o->file, &piece, 1, (off_t)(o->at[i] + done), DONTCACHE);
            if (put < 0 && errno == EINTR)
                continue;
            errno = put == 0 ? EIO : errno;
            if (put <= 0)
                output_lost(o, "pwritev2");
            else
                done += (size_t)put;
        }
        o->ns[i] = now_ns() - start;
    }
}

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PHASE(s, "fill") { write_uncached(&o); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_dontcache, .experiment = "output", .name = "dontcache",
       .summary = "pwritev2(RWF_DONTCACHE): write-back begins at once, and its pages leave the cache when they are clean.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat fill:pwritev2 finish:close sync:fsync remove:unlinkat", .run = run);
