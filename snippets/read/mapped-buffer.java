// Sums a file's bytes by a mapping of at most 2 GiB, which goes when the collector finds it.
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

class Snippet {

// ---
    static long sumOf(String path) throws Exception {
        long sum = 0;
        try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ)) {
            ByteBuffer p = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size());
            for (int i = 0; i < p.limit(); i++)
                sum += p.get(i) & 0xFF;
        }
        return sum;
    }
// ---

    public static void main(String[] words) throws Exception {
        System.out.println(sumOf(words[0]));
    }
}
