#include "output.h"

/* write() goes on from where the last one ended; pieces in another order need their places told. */
static void write_all(struct output *o)
{
    for (size_t done = 0; done < o->bytes && !o->failed;) {
        uint64_t start = now_ns();
        size_t want = o->bytes - done < o->step ? o->bytes - done : o->step;
        ssize_t put = write(o->file, o->source + done, want);
        if (put < 0 && errno == EINTR)
            continue;
        errno = put == 0 ? EIO : errno;
        if (put <= 0)
            output_lost(o, "write");
        else {
            o->ns[done / o->step] += now_ns() - start;
            done += (size_t)put;
        }
    }
}

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    bool pieces = key_is(s, "order", "pieces");
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PHASE(s, "fill") {
        if (pieces)
            output_pwrite(&o, 0, o.steps);
        else
            write_all(&o);
    }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_write, .experiment = "output", .name = "write",
       .summary = "write() of 1 MiB a call into a file that is truncated first; pieces by pwrite(). What programs do.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat fill:write?,pwrite64? finish:close sync:fsync remove:unlinkat", .run = run);
