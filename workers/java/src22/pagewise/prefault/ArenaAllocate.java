package pagewise.prefault;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pagewise.Content;
import pagewise.Method;
import pagewise.Slot;

/**
 * Arena.allocate (java.lang.foreign, final since JDK 22): malloc(3), and all of it set to zero by the virtual machine. Each
 * sample has a process of its own: malloc may keep a block of up to 32 MiB that was freed, and give it again.
 */
public final class ArenaAllocate implements Method {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    @Override
    public void run(Slot s) throws Exception {
        if (!s.is("threads", "1"))
            throw s.skip("one thread sets to zero what an Arena allocates");
        long bytes = s.bytes;
        int page = s.pageBytes;
        byte mark = (byte) (s.seed | 1);
        s.ops = bytes;
        warmUp(page, mark);
        var arena = Arena.ofConfined();
        MemorySegment p;
        try (var phase = s.phase("populate")) {
            p = arena.allocate(bytes, page);
        }
        s.fact("present_bytes", presentBytes(p, bytes, page));
        try (var phase = s.phase("pin")) {
        }
        try (var phase = s.phase("first-use")) {
            touch(p, bytes, page, mark);
        }
        s.digest(digest(p, bytes));
        try (var phase = s.phase("teardown")) {
            arena.close();
        }
    }

    /** Loads what the phases use. */
    private static void warmUp(int page, byte mark) {
        try (var arena = Arena.ofConfined()) {
            MemorySegment p = arena.allocate(16L * page, page);
            touch(p, 16L * page, page, mark);
            digest(p, 16L * page);
        }
    }

    private static void touch(MemorySegment p, long bytes, int page, byte mark) {
        for (long i = 0; i < bytes; i += page)
            p.set(ValueLayout.JAVA_BYTE, i, mark);
    }

    /** By the page table: bit 63 of a page's entry says that it is there. */
    private static long presentBytes(MemorySegment p, long bytes, int page) throws IOException {
        byte[] entries = new byte[8 * 4096];
        long present = 0, left = bytes / page;
        try (var map = new RandomAccessFile("/proc/self/pagemap", "r")) {
            map.seek(p.address() / page * 8);
            while (left > 0) {
                int count = (int) Math.min(left, 4096);
                map.readFully(entries, 0, 8 * count);
                for (int i = 0; i < count; i++)
                    present += entries[8 * i + 7] < 0 ? 1 : 0;
                left -= count;
            }
        }
        return present * page;
    }

    private static long digest(MemorySegment p, long bytes) {
        long sum = 0, weight = 1;
        for (long at = 0; at < bytes; at += 8, weight += 2)
            sum += p.get(WORD, at) * weight;
        return sum + bytes * Content.GOLDEN;
    }
}
