package pagewise.share;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Random;
import pagewise.Content;
import pagewise.Method;
import pagewise.Slot;

/** The same mapped file by absolute get and put: no array in between, no position, no fresh array for clearing. */
public final class MappedBufferAbsolute implements Method {
    @Override
    public void run(Slot s) throws Exception {
        run(s, new Share(s));
    }

    /** The job of side a, also where the second process is a side of its own (SharedFile). */
    static void run(Slot s, Share share) throws Exception {
        int bytes = share.bytes, page = s.pageBytes, clears = share.clears;
        long ops = share.ops, seed = s.seed, sum;
        byte mark = share.mark();
        byte[] zeros = new byte[Math.min(bytes, 1 << 20)];
        boolean rand = s.is("index", "rand");
        share.warmUp((few, size) -> warmUp(few, size, page, ops, rand, zeros));
        FileChannel file;
        ByteBuffer p;
        try (var phase = s.phase("map")) {
            file = Share.create(share.path);
            p = file.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
        }
        share.proof();
        s.ops = bytes / page;
        try (var phase = s.phase("first-touch")) {
            touch(p, bytes, page, mark);
        }
        share.secondProcess(p);
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
        share.checkWrites(p);
        s.ops = clears;
        s.phaseBytes = (long) clears * bytes;
        try (var phase = s.phase("clear")) {
            clear(p, bytes, clears, zeros);
        }
        share.checkCleared(p);
        s.ops = s.phaseBytes = ops;
        random = new Random(seed);
        try (var phase = s.phase("random-read")) {
            sum = rand ? readByRandom(p, bytes, ops, random) : readByXorshift(p, bytes, ops, seed);
        }
        share.checkRead(sum);
        s.ops = 1;
        s.phaseBytes = bytes;
        try (var phase = s.phase("unmap")) {
            Share.unmap(p);
            file.close();
        }
    }

    private static void warmUp(ByteBuffer p, int bytes, int page, long ops, boolean rand, byte[] zeros) {
        touch(p, bytes, page, (byte) 1);
        if (rand) {
            writeByRandom(p, bytes, ops, new Random(1));
            readByRandom(p, bytes, ops, new Random(1));
        } else {
            writeByXorshift(p, bytes, ops, 1);
            readByXorshift(p, bytes, ops, 1);
        }
        clear(p, bytes, 100, zeros);
    }

    private static void touch(ByteBuffer p, int bytes, int page, byte mark) {
        for (int i = 0; i < bytes; i += page)
            p.put(i, mark);
    }

    private static void writeByRandom(ByteBuffer p, int size, long ops, Random random) {
        for (long i = 0; i < ops; i++) {
            p.put(random.nextInt(size), (byte) 0x55);
        }
    }

    private static void writeByXorshift(ByteBuffer p, int size, long ops, long seed) {
        long x = seed | 1;
        for (long i = 0; i < ops; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            p.put((int) ((x * Content.XORSHIFT_FACTOR >>> 32) * size >>> 32), (byte) 0x55);
        }
    }

    private static void clear(ByteBuffer p, int size, int clears, byte[] zeros) {
        int chunk = zeros.length;
        for (int i = 0; i < clears; i++)
            for (int at = 0; at < size; at += chunk)
                p.put(at, zeros, 0, Math.min(chunk, size - at));
    }

    private static long readByRandom(ByteBuffer p, int size, long ops, Random random) {
        long sum = 0;
        for (long i = 0; i < ops; i++) {
            sum += p.get(random.nextInt(size)) & 0xFF;
        }
        return sum;
    }

    private static long readByXorshift(ByteBuffer p, int size, long ops, long seed) {
        long x = seed | 1, sum = 0;
        for (long i = 0; i < ops; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            sum += p.get((int) ((x * Content.XORSHIFT_FACTOR >>> 32) * size >>> 32)) & 0xFF;
        }
        return sum;
    }
}
