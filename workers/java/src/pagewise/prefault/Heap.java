package pagewise.prefault;

import java.io.DataOutputStream;
import java.io.IOException;
import pagewise.Content;

/**
 * The program of a virtual machine whose heap is measured. Each byte of its standard input asks for the next step: fill so many
 * bytes with arrays and mark each page, tell the digest of all of them, end. It ends as well where its input does.
 */
public final class Heap {
    /** More than half of the young generation: such arrays are made in the old one, which is as large as the bytes. */
    private static final int CHUNK_BYTES = 8 << 20;

    private Heap() {
    }

    public static void main(String[] arguments) throws IOException {
        long bytes = Long.parseLong(arguments[0]);
        int page = Integer.parseInt(arguments[1]);
        byte mark = Byte.parseByte(arguments[2]);
        var out = new DataOutputStream(System.out);
        out.write('r');
        out.flush();
        if (System.in.read() < 0)
            return;
        byte[][] chunks = filled(bytes, page, mark);
        out.write('u');
        out.flush();
        if (System.in.read() < 0)
            return;
        out.writeLong(digest(chunks, bytes));
        out.flush();
        System.in.read();
    }

    private static byte[][] filled(long bytes, int page, byte mark) {
        byte[][] chunks = new byte[(int) ((bytes + CHUNK_BYTES - 1) / CHUNK_BYTES)][];
        for (int i = 0; i < chunks.length; i++) {
            byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, bytes - (long) i * CHUNK_BYTES)];
            for (int at = 0; at < chunk.length; at += page)
                chunk[at] = mark;
            chunks[i] = chunk;
        }
        return chunks;
    }

    /** The protocol's digest of all arrays laid end to end; each is whole words long. */
    private static long digest(byte[][] chunks, long bytes) {
        long sum = 0, weight = 1;
        for (byte[] chunk : chunks)
            for (int at = 0; at < chunk.length; at += 8, weight += 2)
                sum += word(chunk, at) * weight;
        return sum + bytes * Content.GOLDEN;
    }

    private static long word(byte[] chunk, int at) {
        long word = 0;
        for (int i = 7; i >= 0; i--)
            word = word << 8 | chunk[at + i] & 0xFF;
        return word;
    }
}
