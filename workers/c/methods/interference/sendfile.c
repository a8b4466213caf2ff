#include "interference.h"
#include <sys/sendfile.h>

/* A reader sends to /dev/null, which takes the pages as a socket would and copies nothing. */
static void run(struct slot *s)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        fail(s, "open /dev/null");
    struct scan w = scan_begin(s, 0);
    bool copies = w.work == COPIES;
    int to = copies ? w.target : nowhere;
    PHASE(s, "work") {
        for (off_t at = 0; (size_t)at < w.bytes && !w.failed;)
            scan_moved(&w, "sendfile", sendfile(to, w.file, &at, STEP_BYTES), &w.moved);
        if (copies)
            scan_sync(&w);
    }
    close(nowhere);
    w.unseen = true;
    scan_end(s, &w);
}

METHOD(interference_sendfile, .experiment = "interference", .name = "sendfile",
       .summary = "sendfile(2) of a MiB each, to the copy, or where nothing is copied to /dev/null.",
       .phases = INTERFERENCE_PHASES, .keys = INTERFERENCE_KEYS WORK_KEY("read|copy"), .memory = INTERFERENCE_MEMORY,
       .laws = WORK_LAWS SCAN_LAWS "; work=copy: unwritten_bytes == 0; work=copy: device_written_bytes >= bytes",
       .calls = "work:sendfile,fdatasync?", .run = run);
