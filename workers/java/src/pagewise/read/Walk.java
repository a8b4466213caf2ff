package pagewise.read;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The packet walk over bytes that come in pieces of any size; what it counts and folds is what workers/c counts and folds. */
final class Walk {
    static final int FILE_HEADER = 24, RECORD_HEADER = 16;

    private final boolean swapped;
    private final long limit;
    private final ByteBuffer header = ByteBuffer.allocate(RECORD_HEADER).order(ByteOrder.LITTLE_ENDIAN);
    private long skip = FILE_HEADER, first, second;
    private boolean inRecord; // what is being skipped is a record whose header was read
    long records, recordBytes, fold, wrongBytes;
    boolean damaged;

    Walk(boolean swapped, long limit) {
        this.swapped = swapped;
        this.limit = limit;
    }

    /** The buffer is in little-endian order. */
    void piece(ByteBuffer p, int from, int to) {
        int at = from;
        while (at < to && !damaged) {
            if (skip > 0) {
                int there = (int) Math.min(skip, to - at);
                skip -= there;
                at += there;
                if (skip == 0 && inRecord)
                    complete();
            } else if (header.position() == 0 && to - at >= RECORD_HEADER) {
                at = headers(p, at, to);
            } else {
                header.put(p.get(at++));
                if (!header.hasRemaining()) {
                    begin(header.getLong(0), header.getLong(8));
                    header.clear();
                }
            }
        }
    }

    /** Whole records, as far as the piece goes. */
    private int headers(ByteBuffer p, int from, int to) {
        int at = from;
        long records = this.records, recordBytes = this.recordBytes, fold = this.fold, limit = this.limit;
        boolean swapped = this.swapped;
        while (to - at >= RECORD_HEADER) {
            long first = p.getLong(at), second = p.getLong(at + 8);
            long bytes = captured(second, swapped);
            if (bytes > limit || bytes > to - at - RECORD_HEADER)
                break;
            fold = folded(fold, first, second);
            recordBytes += bytes;
            records++;
            at += RECORD_HEADER + (int) bytes;
        }
        this.records = records;
        this.recordBytes = recordBytes;
        this.fold = fold;
        if (to - at < RECORD_HEADER)
            return at;
        begin(p.getLong(at), p.getLong(at + 8));
        return at + RECORD_HEADER;
    }

    private void begin(long first, long second) {
        long bytes = captured(second, swapped);
        if (bytes > limit) {
            damaged = true;
            wrongBytes = bytes;
            return;
        }
        this.first = first;
        this.second = second;
        skip = bytes;
        inRecord = true;
        if (skip == 0)
            complete();
    }

    private void complete() {
        fold = folded(fold, first, second);
        recordBytes += captured(second, swapped);
        records++;
        inRecord = false;
    }

    /** What the end of the file has cut off: of a record, or of its header. */
    long cutBytes() {
        if (inRecord)
            return RECORD_HEADER + captured(second, swapped) - skip;
        return skip > 0 ? FILE_HEADER - skip : header.position();
    }

    static long captured(long second, boolean swapped) {
        int bytes = (int) second;
        return Integer.toUnsignedLong(swapped ? Integer.reverseBytes(bytes) : bytes);
    }

    static long folded(long fold, long first, long second) {
        long sum = (fold ^ first) * 0x9E3779B97F4A7C15L;
        return (Long.rotateLeft(sum, 23) ^ second) * 0xBF58476D1CE4E5B9L;
    }
}
