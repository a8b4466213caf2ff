#include "stream.h"
#include <stdio_ext.h>

static void run(struct slot *s)
{
    enum { ROOM = 1 << 16 };
    struct input in;
    read_begin(s, &in, ROOM, 1);
    const char *path = in.path;
    unsigned char *packet = (unsigned char *)in.buffer;
    size_t room = in.buffer_bytes;
    bool walks = in.sink.kind == CONSUME_RECORDS || in.sink.kind == CONSUME_PAYLOAD;
    FILE *file = NULL;
    PHASE(s, "open") { file = fopen(path, "re"); }
    check_open(s, file ? 0 : -1, "fopen");
    PHASE(s, "read") {
        if (walks)
            walk_stream(&in, file, packet, room);
        else
            sum_stream(&in, file, packet);
    }
    check_pass(s, &in, "fread");
    fact(s, "stdio_bytes", __fbufsize(file));
    int left;
    PHASE(s, "close") { left = fclose(file); }
    check_done(s, left, "fclose");
    read_end(s, &in, in.blocks ? in.steps : 0);
}

METHOD(read_fread_published, .experiment = "read", .name = "fread-published", .role = "published",
       .summary = "The P3 job as published (\"read\" there): fread(3) with stdio's own buffer, each packet copied out of it.",
       .phases = READ_PHASES, .keys = READ_KEYS, .memory = "65536 + bytes / 1024",
       .laws = CACHE_LAWS "; memory=unbounded & calls_counted == 1: call_bytes >= bytes; "
                          /* One call for each filling of stdio's buffer, which is seldom larger than 4096 bytes. */
                          "file=capture & order=sequential & calls_counted == 1: read_calls >= bytes / stdio_bytes; "
                          "order=sequential & calls_counted == 1: read_calls <= bytes / stdio_bytes + 2",
       .calls = "open:openat,brk? read:read,newfstatat?,fstat?,lseek?,brk? close:close", .run = run);
