package pagewise.read;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The packet walk over bytes that come in pieces of any size; what it counts and folds is what workers/c counts and folds. */
final class Walk {
    static final int FILE_HEADER = 24, RECORD_HEADER = 16;

    private final boolean swapped, payload;
    private final long limit;
    private final ByteBuffer header = ByteBuffer.allocate(RECORD_HEADER).order(ByteOrder.LITTLE_ENDIAN);
    /** Of a payload word that the end of a piece has cut. */
    private final ByteBuffer part = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long skip = FILE_HEADER, first, second, payloadSum;
    private boolean inRecord; // what is being skipped is a record whose header was read
    long records, recordBytes, fold, wrongBytes;
    boolean damaged;

    Walk(boolean swapped, long limit, boolean payload) {
        this.swapped = swapped;
        this.payload = payload;
        this.limit = limit;
    }

    /** The buffer is in little-endian order. */
    void piece(ByteBuffer p, int from, int to) {
        int at = from;
        while (at < to && !damaged) {
            if (skip > 0) {
                int there = (int) Math.min(skip, to - at);
                skip -= there;
                if (payload && inRecord)
                    addPayload(p, at, there);
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

    /** What has come of a payload that the end of a piece cuts; a word that is cut waits for its rest. */
    private void addPayload(ByteBuffer p, int from, int length) {
        int at = from, end = from + length;
        while (part.position() > 0 && at < end) {
            part.put(p.get(at++));
            if (!part.hasRemaining()) {
                payloadSum += part.getLong(0);
                part.clear();
            }
        }
        int whole = end - at & ~7;
        payloadSum += Words.sum(p, at, whole);
        for (at += whole; at < end; at++)
            part.put(p.get(at));
    }

    /** Whole records, as far as the piece goes. */
    private int headers(ByteBuffer p, int from, int to) {
        int at = from;
        long records = this.records, recordBytes = this.recordBytes, fold = this.fold, limit = this.limit;
        boolean swapped = this.swapped, payload = this.payload;
        while (to - at >= RECORD_HEADER) {
            long first = p.getLong(at), second = p.getLong(at + 8);
            long bytes = captured(second, swapped);
            if (bytes > limit || bytes > to - at - RECORD_HEADER)
                break;
            long sum = payload ? Words.sum(p, at + RECORD_HEADER, (int) bytes) : 0;
            fold += mixed(records, first, second, sum);
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
        fold += mixed(records, first, second, payloadSum + Words.sum(part, 0, part.position()));
        payloadSum = 0;
        part.clear();
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

    /** A record's header and the sum of its payload, weighted by the record's number. */
    static long mixed(long number, long first, long second, long payload) {
        long sum = Long.rotateLeft(first * 0x9E3779B97F4A7C15L, 23) ^ second;
        sum = Long.rotateLeft(sum * 0xBF58476D1CE4E5B9L, 29) ^ payload;
        sum *= 0x94D049BB133111EBL;
        return (sum ^ sum >>> 32) * (2 * number + 1);
    }
}
