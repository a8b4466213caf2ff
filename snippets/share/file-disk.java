// A mapped file of a disk that other processes map too.
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

class Snippet {

// ---
    static ByteBuffer shared(String path, int bytes) throws Exception {
        try (FileChannel file = FileChannel.open(Path.of(path), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes); // a path of a disk: not below /dev/shm or /tmp
        }
    }
// ---

    public static void main(String[] words) throws Exception {
        ByteBuffer p = shared(words[0] + ".shared", 4096);
        p.put(7, (byte) 3);
        java.nio.file.Files.delete(Path.of(words[0] + ".shared"));
        System.out.println(p.get(7));
    }
}
