// P1's Java half as its article tells it, by Pagewise: one byte at a time through an array of one byte, cleared by a new array.
// Build: javac -Xlint:all P1.java
// Run:   java P1 FILE 65536 1000000000 10000000
// It prints the seconds of the writes and of the clears. A changed copy is compared by: pagewise bench --published P1 Mine.java
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Random;

public final class P1 {
    public static void main(String[] arguments) throws Exception {
        int bytes = Integer.parseInt(arguments[1]);
        long writes = Long.parseLong(arguments[2]), clears = Long.parseLong(arguments[3]);
        try (RandomAccessFile file = new RandomAccessFile(arguments[0], "rw")) {
            MappedByteBuffer buffer = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, bytes);
            Random random = new Random();
            byte[] single = new byte[1];
            long start = System.nanoTime();
            for (long i = 0; i < writes; i++) {
                int at = random.nextInt(bytes);
                buffer.position(at);
                buffer.get(single);
                single[0] = 0x55;
                buffer.position(at);
                buffer.put(single);
            }
            long written = System.nanoTime();
            for (long i = 0; i < clears; i++) {
                buffer.position(0);
                buffer.put(new byte[bytes]);
            }
            long end = System.nanoTime();
            System.out.printf("%.6f %.6f%n", (written - start) / 1e9, (end - written) / 1e9);
        }
    }
}
