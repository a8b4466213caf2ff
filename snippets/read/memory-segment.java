// Sums a file's bytes by a mapping of any size that goes when its arena is closed. Java 22.
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

class Snippet {

// ---
    static long sumOf(String path) throws Exception {
        long sum = 0;
        try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.READ); Arena arena = Arena.ofConfined()) {
            MemorySegment p = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
            for (long i = 0; i < p.byteSize(); i++)
                sum += p.get(ValueLayout.JAVA_BYTE, i) & 0xFF;
        }
        return sum;
    }
// ---

    public static void main(String[] words) throws Exception {
        System.out.println(sumOf(words[0]));
    }
}
