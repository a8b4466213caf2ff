/* See stream.h. */
#include "stream.h"

static bool take(struct input *in, FILE *file, unsigned char *into, size_t bytes)
{
    if (fread(into, 1, bytes, file) == bytes)
        return true;
    in->error = ferror(file) ? errno : ENODATA;
    return false;
}

/* Bytes of a record that follow its header; 0 where it is damaged, or longer than what is left of the file or of the room. */
static size_t whole_packet(const struct walk *walk, const unsigned char *header, size_t left, size_t room)
{
    uint32_t bytes;
    memcpy(&bytes, header + 8, sizeof bytes);
    bytes = walk->swapped ? __builtin_bswap32(bytes) : bytes;
    return bytes <= walk->limit && bytes <= left && bytes <= room ? bytes : 0;
}

/* The record walk as stdio has it: a header, then its packet behind it, each by one fread(3), and then the record is used. What
 * is no whole record of an ordinary size goes to the consumer in pieces. */
void walk_stream(struct input *in, FILE *file, unsigned char *record, size_t room)
{
    struct walk *walk = &in->sink.walk;
    size_t left = in->bytes, want = WALK_FILE_HEADER;
    while (left && !walk->damaged) {
        bool header = !walk->skip;
        size_t bytes = want < left ? want : left;
        if (!take(in, file, record, bytes))
            break;
        if (header && bytes == WALK_RECORD_HEADER) {
            size_t packet = whole_packet(walk, record, left - bytes, room - bytes);
            if (packet && !take(in, file, record + bytes, packet))
                break;
            bytes += packet;
        }
        consume(&in->sink, record, bytes);
        left -= bytes;
        want = walk->skip ? walk->skip : WALK_RECORD_HEADER;
        want = want < room ? want : room;
    }
}

void sum_stream(struct input *in, FILE *file, unsigned char *block)
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
