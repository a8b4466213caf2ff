package pagewise.share;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Random;
import pagewise.Content;
import pagewise.Method;
import pagewise.Slot;

/**
 * The P1 job as published: one byte is read and written by a bulk get and a bulk put through an array of one byte, and the
 * region is cleared by a bulk put of a fresh zeroed array.
 */
public final class MappedBuffer implements Method {
    @Override
    public void run(Slot s) throws Exception {
        if (s.bytes + (s.bytes >> 1) > Runtime.getRuntime().maxMemory())
            throw s.skip("clearing puts a fresh array of " + s.bytes + " bytes, the heap holds at most "
                + Runtime.getRuntime().maxMemory() + ": give Java a larger -Xmx");
        var share = new Share(s);
        int bytes = share.bytes, page = s.pageBytes, clears = share.clears;
        long ops = share.ops, seed = s.seed, sum;
        byte mark = share.mark();
        boolean rand = s.is("index", "rand");
        share.warmUp((few, size) -> warmUp(few, size, page, ops, rand));
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
        share.witness(p);
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
            clear(p, bytes, clears);
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

    private static void warmUp(ByteBuffer p, int bytes, int page, long ops, boolean rand) {
        touch(p, bytes, page, (byte) 1);
        if (rand) {
            writeByRandom(p, bytes, ops, new Random(1));
            readByRandom(p, bytes, ops, new Random(1));
        } else {
            writeByXorshift(p, bytes, ops, 1);
            readByXorshift(p, bytes, ops, 1);
        }
        clear(p, bytes, 100);
    }

    private static void touch(ByteBuffer p, int bytes, int page, byte mark) {
        for (int i = 0; i < bytes; i += page)
            p.put(i, mark);
    }

    private static void writeByRandom(ByteBuffer p, int size, long ops, Random random) {
        byte[] one = new byte[1];
        for (long i = 0; i < ops; i++) {
            int at = random.nextInt(size);
            p.position(at);
            p.get(one);
            one[0] = 0x55;
            p.position(at);
            p.put(one);
        }
    }

    private static void writeByXorshift(ByteBuffer p, int size, long ops, long seed) {
        byte[] one = new byte[1];
        long x = seed | 1;
        for (long i = 0; i < ops; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            int at = (int) ((x * Content.XORSHIFT_FACTOR >>> 32) * size >>> 32);
            p.position(at);
            p.get(one);
            one[0] = 0x55;
            p.position(at);
            p.put(one);
        }
    }

    private static void clear(ByteBuffer p, int size, int clears) {
        for (int i = 0; i < clears; i++) {
            p.position(0);
            p.put(new byte[size]);
        }
    }

    private static long readByRandom(ByteBuffer p, int size, long ops, Random random) {
        byte[] one = new byte[1];
        long sum = 0;
        for (long i = 0; i < ops; i++) {
            p.position(random.nextInt(size));
            p.get(one);
            sum += one[0] & 0xFF;
        }
        return sum;
    }

    private static long readByXorshift(ByteBuffer p, int size, long ops, long seed) {
        byte[] one = new byte[1];
        long x = seed | 1, sum = 0;
        for (long i = 0; i < ops; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            p.position((int) ((x * Content.XORSHIFT_FACTOR >>> 32) * size >>> 32));
            p.get(one);
            sum += one[0] & 0xFF;
        }
        return sum;
    }
}
