#include "read.h"
#include <stdio.h>

/* The record walk as stdio has it: a header, then its packet, each by one fread(3). */
static void walk_stream(struct input *in, FILE *file, unsigned char *packet, size_t room)
{
    struct walk *walk = &in->sink.walk;
    size_t left = in->bytes, want = WALK_FILE_HEADER;
    while (left && !walk->damaged) {
        size_t take = want < left ? want : left;
        if (fread(packet, 1, take, file) != take) {
            in->error = ferror(file) ? errno : ENODATA;
            break;
        }
        consume(&in->sink, packet, take);
        left -= take;
        want = walk->skip ? walk->skip : WALK_RECORD_HEADER;
        want = want < room ? want : room;
    }
}

static void sum_stream(struct input *in, FILE *file, unsigned char *block)
{
    for (size_t i = 0; i < in->steps && !in->error; i++) {
        size_t offset = step_offset(in, i), left = bytes_at(in, offset);
        if (in->blocks)
            fseeko(file, (off_t)offset, SEEK_SET);
        for (; left && !in->error; left -= left < BLOCK_BYTES ? left : BLOCK_BYTES) {
            size_t take = left < BLOCK_BYTES ? left : BLOCK_BYTES;
            if (fread(block, 1, take, file) != take)
                in->error = ferror(file) ? errno : ENODATA;
            else
                consume(&in->sink, block, take);
        }
    }
}

static void run(struct slot *s)
{
    struct input in;
    read_begin(s, &in, key_size(s, "chunk"), 2);
    const char *path = in.path;
    char *buffer = in.buffer;
    size_t room = in.buffer_bytes / 2; /* one half is stdio's buffer, the other the program's */
    unsigned char *block = (unsigned char *)buffer + room;
    bool records = in.sink.kind == CONSUME_RECORDS;
    FILE *file = NULL;
    PHASE(s, "open") {
        file = fopen(path, "re");
        if (file)
            setvbuf(file, buffer, _IOFBF, room);
    }
    check_open(s, file ? 0 : -1, "fopen");
    PHASE(s, "read") {
        if (records)
            walk_stream(&in, file, block, room);
        else
            sum_stream(&in, file, block);
    }
    check_pass(s, &in, "fread");
    PHASE(s, "close") { fclose(file); }
    read_end(s, &in, in.blocks ? in.steps : 0);
}

METHOD(read_fread, .experiment = "read", .name = "fread",
       .summary = "fread(3) with a stdio buffer of `chunk` bytes: each record's header and packet, or 4 KiB at a time.",
       .phases = READ_PHASES, .keys = CHUNK_KEYS, .memory = "2 * chunk + bytes / 1024", .laws = CACHE_LAWS,
       .calls = "open:openat read:read,lseek? close:close", .run = run);
