#include "output.h"

enum { PACE_BYTES = 8 << 20 };

/* Write-back of each 8 MiB is begun as soon as they are there. */
static void write_paced(struct output *o)
{
    size_t pace = PACE_BYTES / o->step;
    for (size_t i = 0; i < o->steps && !o->failed; i += pace) {
        size_t end = i + pace < o->steps ? i + pace : o->steps;
        output_pwrite(o, i, end);
        off_t from = o->step == STEP_BYTES ? (off_t)o->at[i] : 0; /* pieces lie anywhere: whatever is dirty */
        off_t bytes = o->step == STEP_BYTES ? (off_t)((end - i) * o->step) : 0;
        while (!o->failed && sync_file_range(o->file, from, bytes, SYNC_FILE_RANGE_WRITE) != 0)
            if (errno != EINTR)
                output_lost(o, "sync_file_range");
    }
}

static void run(struct slot *s)
{
    struct output o = output_begin(s);
    PHASE(s, "open") { output_truncate(&o, 0); }
    output_check(s, &o);
    PHASE(s, "size") { }
    output_check(s, &o);
    PHASE(s, "fill") { write_paced(&o); }
    output_check(s, &o);
    PHASE(s, "finish") { output_close(&o); }
    output_end(s, &o);
}

METHOD(output_paced, .experiment = "output", .name = "paced",
       .summary = "write, and sync_file_range() each 8 MiB: write-back begins at once and in pieces, and nothing waits for it.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat fill:pwrite64,sync_file_range finish:close sync:fsync remove:unlinkat", .run = run);
