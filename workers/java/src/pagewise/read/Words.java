package pagewise.read;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The sum of little-endian 8-byte words, the last one padded with zeros, as every worker's. */
final class Words {
    private static final VarHandle WORD = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Words() {
    }

    /** Four sums that do not wait for each other; the loop's bounds are known, so that the checks of eight words become one. */
    static long sum(ByteBuffer p, int from, int length) {
        long a = 0, b = 0, c = 0, d = 0;
        int i = from, end = from + length;
        for (int last = end - 63; i < last; i += 64) {
            a += (long) WORD.get(p, i) + (long) WORD.get(p, i + 32);
            b += (long) WORD.get(p, i + 8) + (long) WORD.get(p, i + 40);
            c += (long) WORD.get(p, i + 16) + (long) WORD.get(p, i + 48);
            d += (long) WORD.get(p, i + 24) + (long) WORD.get(p, i + 56);
        }
        for (; end - i >= 8; i += 8)
            a += (long) WORD.get(p, i);
        if (i < end && length >= 8) // the last eight bytes, of which those that were added before are shifted out
            return a + b + c + d + ((long) WORD.get(p, end - 8) >>> 64 - 8 * (end - i));
        for (int shift = 0; i < end; i++, shift += 8)
            b += (p.get(i) & 0xFFL) << shift;
        return a + b + c + d;
    }
}
