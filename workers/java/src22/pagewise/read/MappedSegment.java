package pagewise.read;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import pagewise.Method;
import pagewise.Slot;

/** FileChannel.map into a MemorySegment (java.lang.foreign, final since JDK 22): long offsets, and a real unmap. */
public final class MappedSegment implements Method {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public void run(Slot s) throws Exception {
        var in = new Reading(s, true);
        try {
            run(s, in);
        } catch (InternalError e) {
            throw in.faulted(e);
        }
    }

    private static void run(Slot s, Reading in) throws Exception {
        boolean sums = s.is("consume", "sum"), payload = s.is("consume", "payload");
        FileChannel file;
        MemorySegment p;
        var arena = Arena.ofConfined();
        try (var phase = s.phase("open")) {
            file = FileChannel.open(in.path, StandardOpenOption.READ);
            p = file.map(FileChannel.MapMode.READ_ONLY, 0, in.bytes, arena);
        }
        try (var phase = s.phase("read")) {
            if (payload || s.is("consume", "records"))
                walk(in, p, payload);
            else
                read(in, p, sums);
        }
        in.count();
        in.mappedBytes();
        try (var phase = s.phase("close")) {
            arena.close();
            file.close();
        }
        in.end();
    }

    private static void read(Reading in, MemorySegment p, boolean sums) {
        long steps = in.steps, sum = 0, touched = 0;
        for (long i = 0; i < steps; i++) {
            long offset = in.offset(i), length = in.length(offset);
            if (sums)
                sum += summed(p, offset, length);
            else
                touched += touched(p, offset, length);
            in.deliveredBytes += length;
        }
        in.sum = sum;
        in.touched = touched;
    }

    private static final long BLOCK = 1L << 30; // whose words an int can count

    /** As Words.sum(), over blocks whose loops the compiler can count. */
    private static long summed(MemorySegment p, long from, long length) {
        long sum = 0, at = from, end = from + length;
        for (; end - at >= BLOCK; at += BLOCK)
            sum += block(p, at, (int) BLOCK);
        return sum + block(p, at, (int) (end - at));
    }

    private static long block(MemorySegment p, long from, int length) {
        long a = 0, b = 0, c = 0, d = 0;
        int i = 0;
        for (int last = length - 63; i < last; i += 64) {
            a += p.get(WORD, from + i) + p.get(WORD, from + i + 32);
            b += p.get(WORD, from + i + 8) + p.get(WORD, from + i + 40);
            c += p.get(WORD, from + i + 16) + p.get(WORD, from + i + 48);
            d += p.get(WORD, from + i + 24) + p.get(WORD, from + i + 56);
        }
        for (; length - i >= 8; i += 8)
            a += p.get(WORD, from + i);
        if (i < length && length >= 8)
            return a + b + c + d + (p.get(WORD, from + length - 8) >>> 64 - 8 * (length - i));
        for (int shift = 0; i < length; i++, shift += 8)
            b += (p.get(ValueLayout.JAVA_BYTE, from + i) & 0xFFL) << shift;
        return a + b + c + d;
    }

    private static long touched(MemorySegment p, long from, long length) {
        long any = 0;
        for (long i = from; i < from + length; i += Reading.BLOCK_BYTES)
            any += p.get(ValueLayout.JAVA_BYTE, i) & 0xFF;
        return any;
    }

    /** The whole file is there, so no record is cut by anything but the file's end. */
    private static void walk(Reading in, MemorySegment p, boolean payload) {
        long at = Walk.FILE_HEADER, bytes = in.bytes, limit = in.limit, records = 0, recordBytes = 0, fold = 0;
        boolean swapped = in.swapped;
        while (bytes - at >= Walk.RECORD_HEADER) {
            long first = p.get(WORD, at), second = p.get(WORD, at + 8), captured = Walk.captured(second, swapped);
            if (captured > limit) {
                in.walk.damaged = true;
                in.walk.wrongBytes = captured;
                break;
            }
            if (captured > bytes - at - Walk.RECORD_HEADER)
                break;
            long sum = payload ? summed(p, at + Walk.RECORD_HEADER, captured) : 0;
            fold += Walk.mixed(records, first, second, sum);
            recordBytes += captured;
            records++;
            at += Walk.RECORD_HEADER + captured;
        }
        in.walk.records = records;
        in.walk.recordBytes = recordBytes;
        in.walk.fold = fold;
        in.cutBytes = bytes - at;
        in.deliveredBytes = bytes;
    }
}
