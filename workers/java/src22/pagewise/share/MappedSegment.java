package pagewise.share;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.util.Random;
import pagewise.Content;
import pagewise.Method;
import pagewise.Slot;

/** The same mapped file as a MemorySegment (java.lang.foreign, final since JDK 22): long indices, fill, and a real unmap. */
public final class MappedSegment implements Method {
    @Override
    public void run(Slot s) throws Exception {
        var share = new Share(s);
        int bytes = share.bytes, page = s.pageBytes, clears = share.clears;
        long ops = share.ops, seed = s.seed, sum;
        byte mark = share.mark();
        boolean rand = s.is("index", "rand");
        FileChannel file;
        MemorySegment p;
        var arena = Arena.ofConfined();
        try (var phase = s.phase("map")) {
            file = Share.create(share.path);
            p = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
        }
        share.proof();
        s.ops = bytes / page;
        try (var phase = s.phase("first-touch")) {
            touch(p, bytes, page, mark);
        }
        share.witness(p.asByteBuffer());
        s.ops = s.phaseBytes = ops;
        var random = new Random(seed);
        try (var phase = s.phase("random-write")) {
            if (rand)
                writeByRandom(p, bytes, ops, random);
            else
                writeByXorshift(p, bytes, ops, seed);
        }
        random = new Random(seed);
        try (var phase = s.phase("index-only")) {
            sum = rand ? Share.onlyRandom(bytes, ops, random) : Share.onlyXorshift(bytes, ops, seed);
        }
        share.checkIndices(sum);
        share.checkWrites(p.asByteBuffer());
        s.ops = clears;
        s.phaseBytes = (long) clears * bytes;
        try (var phase = s.phase("clear")) {
            clear(p, clears);
        }
        share.checkCleared(p.asByteBuffer());
        s.ops = s.phaseBytes = ops;
        random = new Random(seed);
        try (var phase = s.phase("random-read")) {
            sum = rand ? readByRandom(p, bytes, ops, random) : readByXorshift(p, bytes, ops, seed);
        }
        share.checkRead(sum);
        s.ops = 1;
        s.phaseBytes = bytes;
        try (var phase = s.phase("unmap")) {
            arena.close();
            file.close();
        }
    }

    private static void touch(MemorySegment p, int bytes, int page, byte mark) {
        for (int i = 0; i < bytes; i += page)
            p.set(ValueLayout.JAVA_BYTE, i, mark);
    }

    private static void writeByRandom(MemorySegment p, int size, long ops, Random random) {
        for (long i = 0; i < ops; i++) {
            p.set(ValueLayout.JAVA_BYTE, random.nextInt(size), (byte) 0x55);
        }
    }

    private static void writeByXorshift(MemorySegment p, int size, long ops, long seed) {
        long x = seed | 1;
        for (long i = 0; i < ops; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            p.set(ValueLayout.JAVA_BYTE, (x * Content.XORSHIFT_FACTOR >>> 32) * size >>> 32, (byte) 0x55);
        }
    }

    private static void clear(MemorySegment p, int clears) {
        for (int i = 0; i < clears; i++)
            p.fill((byte) 0);
    }

    private static long readByRandom(MemorySegment p, int size, long ops, Random random) {
        long sum = 0;
        for (long i = 0; i < ops; i++) {
            sum += p.get(ValueLayout.JAVA_BYTE, random.nextInt(size)) & 0xFF;
        }
        return sum;
    }

    private static long readByXorshift(MemorySegment p, int size, long ops, long seed) {
        long x = seed | 1, sum = 0;
        for (long i = 0; i < ops; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            sum += p.get(ValueLayout.JAVA_BYTE, (x * Content.XORSHIFT_FACTOR >>> 32) * size >>> 32) & 0xFF;
        }
        return sum;
    }
}
