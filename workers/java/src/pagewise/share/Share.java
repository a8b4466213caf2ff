package pagewise.share;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import pagewise.Content;
import pagewise.Helper;
import pagewise.Slot;
import pagewise.Unmap;

/** What the Java methods of `share` have in common: the file, the load, and how each step is checked outside the clock. */
final class Share {
    /** From this size on a round takes seconds, so that the loops are not warmed up by rounds. */
    private static final int LONG_JOB_BYTES = 64 << 20;
    /** Turns on a small buffer instead: the last compilations came in the 17th and the 19th round. */
    private static final int WARM_UPS = 24;
    private static boolean isWarm;
    private static Process load; // of this slot, or of one that ended early
    private static long loadStartNs, loadStartCpuNs;

    final Path path;
    final int bytes, clears;
    final long ops;
    private final Slot s;
    private final boolean tmpfs, twoSided;

    /** Before the map phase: checks the cell, names the file, starts the load. */
    Share(Slot s) throws IOException {
        this(s, s.is("place", "tmpfs"), false);
    }

    /** With two sides, both hear of what keeps one of them from going on. */
    Share(Slot s, boolean tmpfs, boolean twoSided) throws IOException {
        this.s = s;
        this.tmpfs = tmpfs;
        this.twoSided = twoSided;
        String obstacle = s.bytes % s.pageBytes != 0 ? "bytes is not a multiple of the page size"
            : s.bytes > Integer.MAX_VALUE - 8 ? "a byte buffer holds at most 2 GiB" : null;
        if (twoSided)
            s.agree(obstacle);
        else if (obstacle != null)
            throw s.skip(obstacle);
        bytes = (int) s.bytes;
        ops = s.size("ops");
        clears = (int) ((s.size("clear_bytes") + bytes - 1) / bytes);
        String folder = tmpfs ? "/dev/shm" : s.launchDirectory();
        path = twoSided ? named(s) : Path.of(folder, s.launchName() + "-share-java");
        if (Files.isDirectory(Path.of(folder)) && Files.getFileStore(Path.of(folder)).getUsableSpace() < bytes)
            throw s.fail("map " + path, new IOException("No space left on device for " + bytes + " bytes"));
        Unmap.need(s);
        if (s.role() == 'a')
            startLoad();
    }

    /** A method's own measured loops, once, on a buffer of this many bytes. */
    interface Loops {
        void run(ByteBuffer p, int bytes);
    }

    /** Before the first slot of a long job: has the loops compiled on a small buffer. */
    void warmUp(Loops loops) {
        if (isWarm || bytes < LONG_JOB_BYTES)
            return;
        isWarm = true;
        ByteBuffer few = ByteBuffer.allocateDirect(1 << 16);
        for (int i = 0; i < WARM_UPS; i++) {
            loops.run(few, few.capacity());
            if (s.is("index", "rand"))
                onlyRandom(few.capacity(), ops, new Random(1));
            else
                onlyXorshift(few.capacity(), ops, 1);
        }
    }

    /** The same names as the native worker's file-tmpfs and file-disk have. */
    private Path named(Slot s) {
        return tmpfs ? Path.of("/dev/shm", s.launchName() + "-file") : Path.of(s.launchDirectory(), s.launchName() + "-share");
    }

    /** After the map phase: proves what is mapped, and from which kind of file system; one-sided, the name goes at once. */
    void proof() throws IOException {
        String type = Files.getFileStore(path).type();
        boolean inMemory = type.equals("tmpfs") || type.equals("ramfs");
        boolean named = false;
        try (var maps = new BufferedReader(new FileReader("/proc/self/maps"))) {
            for (String line; (line = maps.readLine()) != null;)
                named |= line.contains(path.toString());
        }
        String obstacle = !tmpfs && inMemory ? "the directory for files lies in memory; name one on a disk" : null;
        if (!twoSided || obstacle != null)
            Files.delete(path);
        s.fact("file_system", type);
        s.fact("in_memory", inMemory ? 1 : 0);
        s.fact("backed_as_named", named ? 1 : 0);
        if (twoSided)
            s.agree(obstacle);
        else if (obstacle != null)
            throw s.skip(obstacle);
    }

    /**
     * Proves that the memory is shared: another process reads the number that is left here, and its own is found here. The
     * file has no name any more, so that process opens it by this one's descriptor.
     */
    void witness(ByteBuffer memory) throws IOException {
        ByteBuffer p = memory.duplicate().order(ByteOrder.nativeOrder());
        int at = bytes - s.pageBytes + 16;
        long number = number('a');
        p.putLong(at, number);
        var process = Helper.start(s, "to be seen by another process", "witness", descriptor(), Integer.toString(bytes));
        String[] words = new String(process.getInputStream().readAllBytes()).trim().split(" ");
        if (words.length != 2)
            throw new IOException("the second process could not map the file");
        s.fact("number", number);
        s.fact("b.number_seen", words[0]);
        s.fact("b.number", words[1]);
        s.fact("number_seen", p.getLong(at + 8));
        p.putLong(at, 0);
        p.putLong(at + 8, 0);
    }

    /** After first-touch: side b, or a process that only looks. */
    void secondProcess(ByteBuffer memory) throws IOException {
        if (twoSided)
            SharedFile.withB(s, this, memory);
        else
            witness(memory);
    }

    private String descriptor() throws IOException {
        try (var all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path one : all)
                if (Files.isSymbolicLink(one) && Files.readSymbolicLink(one).toString().startsWith(path.toString()))
                    return "/proc/" + ProcessHandle.current().pid() + "/fd/" + one.getFileName();
        }
        throw new IOException("no descriptor of " + path + " is open");
    }

    /** Another number in every slot, by the native worker's rule. */
    long number(char side) {
        return Content.patternWord(s.seed ^ side, s.number) >>> 33 | 1;
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
            return (int) ((x * Content.XORSHIFT_FACTOR >>> 32) * bytes >>> 32);
        }
    }

    /**
     * Every byte must be what the stores leave there: 0x55 where one of them went, elsewhere what was there before. With
     * index=rand each language has its own sequence; the metric is the memory without its stores.
     */
    void checkWrites(ByteBuffer p) {
        long wrong = 0;
        byte[] stored = new byte[bytes / 8];
        var again = new Replay();
        for (long i = 0; i < ops; i++) {
            int at = again.next();
            stored[at / 8] |= (byte) (1 << at % 8);
        }
        for (int at = 0; at < bytes; at++) {
            if (at % 8 == 0 && at % s.pageBytes != 0 && stored[at / 8] == 0 && p.getLong(at) == 0) {
                at += 7; // a whole word where nothing was stored
                continue;
            }
            boolean hit = (stored[at / 8] >> at % 8 & 1) == 1;
            byte before = at % s.pageBytes == 0 ? mark() : 0;
            wrong += p.get(at) != (hit ? 0x55 : before) ? 1 : 0;
            if (hit && again.random != null)
                p.put(at, before);
        }
        s.fact("wrong_bytes", wrong);
        s.digest(Content.digest(p, bytes));
    }

    /** The indices by themselves: the loop of random-write with no store. */
    static long onlyRandom(int size, long ops, Random random) {
        long sum = 0;
        for (long i = 0; i < ops; i++)
            sum += random.nextInt(size);
        return sum;
    }

    static long onlyXorshift(int size, long ops, long seed) {
        long x = seed | 1, sum = 0;
        for (long i = 0; i < ops; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            sum += (x * Content.XORSHIFT_FACTOR >>> 32) * size >>> 32;
        }
        return sum;
    }

    void checkIndices(long sum) {
        long expected = 0;
        var again = new Replay();
        for (long i = 0; i < ops; i++)
            expected += again.next();
        s.fact("index_sum", sum);
        s.fact("expected_index_sum", expected);
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
        load = Helper.start(s, "load=" + s.word("load"), "load", s.word("load"));
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
