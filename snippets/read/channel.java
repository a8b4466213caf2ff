// Sums a file's bytes through a channel and a direct buffer.
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

class Snippet {

// ---
    static long sumOf(String path) throws Exception {
        long sum = 0;
        ByteBuffer buffer = ByteBuffer.allocateDirect(64 * 1024);
        try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ)) {
            while (file.read(buffer.clear()) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining())
                    sum += buffer.get() & 0xFF;
            }
        }
        return sum;
    }
// ---

    public static void main(String[] words) throws Exception {
        System.out.println(sumOf(words[0]));
    }
}
