#include "interference.h"

/* As a server does that has a pipe between a file and a socket; /dev/null takes the pages as a socket would. */
static void run(struct slot *s)
{
    int ends[2], nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || pipe2(ends, O_CLOEXEC) != 0)
        fail(s, "pipe2");
    (void)fcntl(ends[1], F_SETPIPE_SZ, STEP_BYTES); /* Where it may not be so large, there are more calls. */
    struct scan w = scan_begin(s, 0);
    PHASE(s, "work") {
        for (off_t at = 0; (size_t)at < w.bytes && !w.failed;) {
            size_t there = 0, gone = 0;
            if (!scan_moved(&w, "splice", splice(w.file, &at, ends[1], NULL, STEP_BYTES, 0), &there))
                break;
            while (gone < there)
                if (!scan_moved(&w, "splice", splice(ends[0], NULL, nowhere, NULL, there - gone, 0), &gone))
                    break;
            w.moved += gone;
        }
    }
    close(nowhere);
    close(ends[0]);
    close(ends[1]);
    w.unseen = true;
    scan_end(s, &w);
}

METHOD(interference_splice, .experiment = "interference", .name = "splice",
       .summary = "splice(2) of a MiB each into a pipe, and from there to /dev/null: no byte is copied.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS, .calls = "work:splice", .run = run);
