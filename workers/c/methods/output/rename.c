#include "output.h"
#include <stdio.h>

/* linkat() replaces no name, so an old file's is removed first: for a moment there is none. */
static void give_name(struct output *o, bool old)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", o->file); /* AT_EMPTY_PATH would need a privilege */
    if (old && unlinkat(o->folder, o->name, 0) != 0)
        output_lost(o, "unlinkat");
    else if (linkat(AT_FDCWD, path, o->folder, o->name, AT_SYMLINK_FOLLOW) != 0)
        output_lost(o, "linkat");
}

/* The new file gets its name when it is whole: it has another one until then, or none. */
static SHARED_BODY void run(struct slot *s, bool nameless)
{
    struct output o = output_begin(s);
    bool old = !key_is(s, "old", "none");
    PHASE(s, "open") { output_open(&o, nameless ? "." : o.fresh, nameless ? O_TMPFILE : O_CREAT | O_EXCL); }
    output_check(s, &o);
    PHASE(s, "size") { }
    PHASE(s, "fill") { output_pwrite(&o, 0, o.steps); }
    output_check(s, &o);
    PHASE(s, "finish") {
        if (nameless)
            give_name(&o, old);
        output_close(&o);
        if (!nameless && renameat(o.folder, o.fresh, o.folder, o.name) != 0)
            output_lost(&o, "renameat");
    }
    output_end(s, &o);
}

static void renamed(struct slot *s) { run(s, false); }
METHOD(output_rename, .experiment = "output", .name = "rename",
       .summary = "A new file beside the old one takes its name when it is whole: no reader sees half of it.",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat fill:pwrite64 finish:close,renameat sync:fsync remove:unlinkat", .run = renamed);

static void linked(struct slot *s) { run(s, true); }
METHOD(output_tmpfile_link, .experiment = "output", .name = "tmpfile-link",
       .summary = "A file without a name (O_TMPFILE) is written and gets its name when it is whole (linkat).",
       .phases = OUTPUT_PHASES, .keys = OUTPUT_KEYS, .memory = OUTPUT_MEMORY, .laws = WRITTEN_LAWS,
       .calls = "open:openat fill:pwrite64 finish:unlinkat?,linkat,close sync:fsync remove:unlinkat", .run = linked);
