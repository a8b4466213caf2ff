#include "stream.h"

static void run(struct slot *s)
{
    struct input in;
    read_begin(s, &in, key_size(s, "chunk"), 2);
    const char *path = in.path;
    char *buffer = in.buffer;
    size_t room = in.buffer_bytes / 2; /* one half is stdio's buffer, the other the program's */
    unsigned char *block = (unsigned char *)buffer + room;
    bool walks = in.sink.kind == CONSUME_RECORDS || in.sink.kind == CONSUME_PAYLOAD;
    FILE *file = NULL;
    PHASE(s, "open") {
        file = fopen(path, "re");
        if (file)
            setvbuf(file, buffer, _IOFBF, room);
    }
    check_open(s, file ? 0 : -1, "fopen");
    PHASE(s, "read") {
        if (walks)
            walk_stream(&in, file, block, room);
        else
            sum_stream(&in, file, block);
    }
    check_pass(s, &in, "fread");
    int left;
    PHASE(s, "close") { left = fclose(file); }
    check_done(s, left, "fclose");
    read_end(s, &in, in.blocks ? in.steps : 0);
}

METHOD(read_fread, .experiment = "read", .name = "fread",
       .summary = "fread(3) with a stdio buffer of `chunk` bytes: each record's header and packet, or 4 KiB at a time.",
       .phases = READ_PHASES, .keys = CHUNK_KEYS, .memory = "2 * chunk + bytes / 1024",
       .laws = CACHE_LAWS "; memory=unbounded & calls_counted == 1: call_bytes >= bytes; "
                          "order=sequential & calls_counted == 1: read_calls >= bytes / chunk",
       .calls = "open:openat read:read,lseek? close:close", .run = run);
