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
        boolean sums = s.is("consume", "sum"), walks = s.is("consume", "records");
        FileChannel file;
        MemorySegment p;
        var arena = Arena.ofConfined();
        try (var phase = s.phase("open")) {
            file = FileChannel.open(in.path, StandardOpenOption.READ);
            p = file.map(FileChannel.MapMode.READ_ONLY, 0, in.bytes, arena);
        }
        try (var phase = s.phase("read")) {
            if (walks)
                walk(in, p);
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
        long steps = in.steps, sum = 0;
        for (long i = 0; i < steps; i++) {
            long offset = in.offset(i), length = in.length(offset);
            sum += sums ? summed(p, offset, length) : touched(p, offset, length);
            in.deliveredBytes += length;
        }
        in.sum = sum;
    }

    private static long summed(MemorySegment p, long from, long length) {
        long sum = 0, end = from + (length & ~7L);
        for (long i = from; i < end; i += 8)
            sum += p.get(WORD, i);
        for (long i = end; i < from + length; i++)
            sum += (p.get(ValueLayout.JAVA_BYTE, i) & 0xFFL) << 8 * (i - end);
        return sum;
    }

    private static long touched(MemorySegment p, long from, long length) {
        long any = 0;
        for (long i = from; i < from + length; i += Reading.BLOCK_BYTES)
            any ^= p.get(ValueLayout.JAVA_BYTE, i);
        return any;
    }

    /** The whole file is there, so no record is cut by anything but the file's end. */
    private static void walk(Reading in, MemorySegment p) {
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
            fold = Walk.folded(fold, first, second);
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
