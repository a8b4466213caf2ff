package pagewise.share;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import pagewise.Content;
import pagewise.Native;
import pagewise.Slot;
import pagewise.Unmap;

/** What the Java methods of `share` have in common: the file, the load, and how each step is checked outside the clock. */
final class Share {
    private static Process load; // of this slot, or of one that ended early
    private static long loadStartNs, loadStartCpuNs;

    final Path path;
    final int bytes, clears;
    final long ops;
    private final Slot s;

    /** Before the map phase: checks the cell, names the file, starts the load. */
    Share(Slot s) throws IOException {
        this.s = s;
        if (s.bytes % s.pageBytes != 0)
            throw s.skip("bytes is not a multiple of the page size");
        if (s.bytes > Integer.MAX_VALUE - 8)
            throw s.skip("a byte buffer holds at most 2 GiB");
        bytes = (int) s.bytes;
        ops = s.size("ops");
        clears = (int) ((s.size("clear_bytes") + bytes - 1) / bytes);
        String folder = s.is("place", "tmpfs") ? "/dev/shm" : s.launchDirectory();
        path = Path.of(folder, s.launchName() + "-share-java");
        if (Files.isDirectory(Path.of(folder)) && Files.getFileStore(Path.of(folder)).getUsableSpace() < bytes)
            throw s.fail("map " + path, new IOException("No space left on device for " + bytes + " bytes"));
        Unmap.need(s);
        startLoad();
    }

    /** After the map phase: unlinks the file and proves what is mapped, and from which kind of file system. */
    void proof() throws IOException {
        String type = Files.getFileStore(path).type();
        boolean inMemory = type.equals("tmpfs") || type.equals("ramfs");
        boolean shared = false, named = false;
        try (var maps = new BufferedReader(new FileReader("/proc/self/maps"))) {
            for (String line; (line = maps.readLine()) != null;)
                if (line.contains(path.toString())) {
                    named = true;
                    shared = line.split(" ")[1].endsWith("s");
                }
        }
        Files.delete(path);
        s.fact("file_system", type);
        s.fact("in_memory", inMemory ? 1 : 0);
        s.fact("shared", shared ? 1 : 0);
        s.fact("backed_as_named", named ? 1 : 0);
        if (s.is("place", "disk") && inMemory)
            throw s.skip("the directory for files lies in memory; name one on a disk");
    }

    byte mark() {
        return (byte) (s.seed | 1);
    }

    /** The cell's indices: as published by java.util.Random, or the protocol's sequence. */
    private final class Replay {
        private final Random random = s.is("index", "rand") ? new Random(s.seed) : null;
        private long x = s.seed | 1;

        int next() {
            if (random != null)
                return random.nextInt(bytes);
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            return (int) ((x * Content.XORSHIFT_FACTOR >>> 32) % bytes);
        }
    }

    /**
     * Every store must be found. With index=rand each language has its own sequence, so the stores are then taken back: what
     * is left must be what first-touch left, in every language the same, or a store went where it should not.
     */
    void checkWrites(ByteBuffer p) {
        long lost = 0;
        var again = new Replay();
        for (long i = 0; i < ops; i++)
            lost += p.get(again.next()) != 0x55 ? 1 : 0;
        s.fact("lost_writes", lost);
        if (again.random != null) {
            again = new Replay();
            for (long i = 0; i < ops; i++) {
                int at = again.next();
                p.put(at, at % s.pageBytes == 0 ? mark() : 0);
            }
        }
        s.digest(Content.digest(p, bytes));
    }

    void checkCleared(ByteBuffer p) {
        s.fact("cleared", Content.digest(p, bytes) == bytes * Content.GOLDEN ? 1 : 0);
        Content.patternFill(p, bytes, s.seed);
    }

    /** After random-read: the sum of the bytes read must be the one of the pattern at those places. The load ends here. */
    void checkRead(long sum) throws IOException {
        long expected = 0;
        var again = new Replay();
        for (long i = 0; i < ops; i++)
            expected += Content.patternByte(s.seed, again.next());
        s.fact("read_sum", sum);
        s.fact("expected_read_sum", expected);
        stopLoad();
    }

    private void startLoad() throws IOException {
        letGo();
        if (s.is("load", "0"))
            return;
        load = Native.start(s, "load=" + s.word("load"), "load", s.word("load"));
        if (load.getInputStream().read() != 'r')
            throw s.fail("start load", new IOException("the load process did not start"));
        loadStartNs = System.nanoTime();
        loadStartCpuNs = loadCpuNs();
    }

    private static long loadCpuNs() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc", load.pid() + "", "schedstat")).split(" ")[0]);
    }

    private void stopLoad() throws IOException {
        boolean loaded = load != null;
        s.fact("load_percent", loaded ? Long.parseLong(s.word("load").replace("%", "")) : 0);
        s.fact("load_cpu_ns", loaded ? loadCpuNs() - loadStartCpuNs : 0);
        s.fact("load_wall_ns", loaded ? System.nanoTime() - loadStartNs : 0);
        letGo();
    }

    private static void letGo() throws IOException {
        if (load == null)
            return;
        load.getOutputStream().close(); // it ends when its standard input does
        try {
            load.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        load = null;
    }

    static FileChannel create(Path path) throws IOException {
        return FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    static void unmap(ByteBuffer buffer) throws IOException {
        Unmap.unmap(buffer);
    }
}
