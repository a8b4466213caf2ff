/* `prepare-file KEY=VALUE…`: for workers in languages that cannot do it themselves. Checks a file as the `read` methods
 * do, puts its cached pages into the state that `cache=` asks for, and proves it. The keys are those of a `read` cell; with
 * kept=yes the file's pages were made hot before and nobody has touched them since. Standard output has one `NAME VALUE` line
 * for each thing found, or the `skip` or `fail` line that the cell has to end with (its slot and cell are 0). */
#include "core.h"
#include "helper/verb.h"
#include "methods/read/read.h"
#include <stdio.h>

static void tell_number(const char *name, uint64_t value)
{
    out("%s %llu\n", name, (unsigned long long)value);
}

static int prepare_file_main(int argc, char **argv)
{
    static const struct method method = {.experiment = "read", .name = "prepare-file"};
    static struct cell cell = {.method = &method};
    static struct slot slot = {.cell = &cell, .role = 'a', .proofs = true};
    struct input in;
    for (int i = 0; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value || cell.parameter_count == MAX_PARAMETERS) {
            dprintf(2, "usage: prepare-file file=PATH bytes=N place=disk|tmpfs consume=… order=… cache=… memory=… [kept=yes]\n");
            return 2;
        }
        *value++ = 0;
        cell.parameters[cell.parameter_count++] = (struct parameter){argv[i], value};
    }
    slot.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    slot.bytes = key_size(&slot, "bytes");
    if (sigsetjmp(slot_exit, 0) != 0) {
        transcript_write(false);
        return 0;
    }
    read_begin(&slot, &in, WHOLE, 0);
    tell_number("resident_before_bytes", in.resident_before);
    tell_number("stored_bytes", in.stored_bytes);
    tell_number("counted", in.counted);
    tell_number("calls_counted", in.calls_counted);
    /* What the consumer must come to; for consume=none, what the touched bytes of a mapping add up to. */
    tell_number("content_known", in.content_known);
    tell_number("content", in.content);
    tell_number("walk_swapped", in.sink.walk.swapped);
    tell_number("walk_limit", in.sink.walk.limit);
    out_flush();
    return 0;
}

VERB("prepare-file", "KEY=VALUE…", prepare_file_main);
