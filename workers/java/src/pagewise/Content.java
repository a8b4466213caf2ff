package pagewise;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The protocol's digest, pattern and index sequence. Never timed. */
public final class Content {
    public static final long GOLDEN = 0x9E3779B97F4A7C15L;
    public static final long XORSHIFT_FACTOR = 0x2545F4914F6CDD1DL;

    private Content() {
    }

    public static long digest(ByteBuffer buffer, int bytes) {
        ByteBuffer p = buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        long sum = 0, weight = 1;
        int whole = bytes & ~7;
        for (int i = 0; i < whole; i += 8, weight += 2)
            sum += p.getLong(i) * weight;
        long tail = 0;
        for (int i = whole; i < bytes; i++)
            tail |= (p.get(i) & 0xFFL) << 8 * (i - whole);
        return sum + tail * weight + bytes * GOLDEN;
    }

    public static long patternWord(long seed, long index) {
        long z = seed + (index + 1) * GOLDEN;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }

    public static int patternByte(long seed, long offset) {
        return (int) (patternWord(seed, offset / 8) >>> offset % 8 * 8) & 0xFF;
    }

    public static void patternFill(ByteBuffer buffer, int bytes, long seed) {
        ByteBuffer p = buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        int whole = bytes & ~7;
        for (int i = 0; i < whole; i += 8)
            p.putLong(i, patternWord(seed, i / 8));
        for (int i = whole; i < bytes; i++)
            p.put(i, (byte) patternByte(seed, i));
    }

    /** Offset of the first byte that differs from the pattern, or `bytes` where none does. */
    public static int patternFirstWrong(ByteBuffer buffer, int from, int bytes, long seed) {
        for (int i = from; i < bytes; i++)
            if ((buffer.get(i) & 0xFF) != patternByte(seed, i))
                return i;
        return bytes;
    }
}
