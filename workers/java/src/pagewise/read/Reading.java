package pagewise.read;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import pagewise.Content;
import pagewise.Native;
import pagewise.Slot;

/** What the Java methods of `read` have in common: the file and its cache before the clock, the steps, the consumer, proofs. */
public final class Reading {
    static final int BLOCK_BYTES = 4096;
    private static final Set<String> madeHot = new HashSet<>();

    public final Path path;
    public final long bytes, stepBytes, steps;
    public final boolean swapped;
    public final long limit;
    private final Slot s;
    private final int[] blocks;
    private final boolean sums, walks, mapped;
    private final Map<String, Long> found;
    private final long readCalls, deviceBytes;
    final Walk walk;
    long sum, deliveredBytes;
    long cutBytes = -1; // the walk's own count, where a method does not walk by itself

    /** Before the clock. A mapped file is one step in sequential order, otherwise a chunk; in random order a block. */
    public Reading(Slot s, boolean mapped) throws IOException {
        this.s = s;
        this.mapped = mapped;
        path = Path.of(s.word("file"));
        bytes = s.bytes;
        boolean random = s.is("order", "random");
        sums = s.is("consume", "sum");
        walks = s.is("consume", "records");
        found = prepared(s);
        swapped = found.get("walk_swapped") != 0;
        limit = found.get("walk_limit");
        walk = walks ? new Walk(swapped, limit) : null;
        stepBytes = random ? BLOCK_BYTES : mapped ? bytes : s.size("chunk");
        steps = (bytes + stepBytes - 1) / stepBytes;
        blocks = random ? shuffled(s) : null;
        s.ops = bytes;
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        readCalls = counted("syscr: ");
        deviceBytes = counted("read_bytes: ");
    }

    /** Java can neither empty the page cache nor ask what is in it; the native worker does both, and looks at the file. */
    private static Map<String, Long> prepared(Slot s) throws IOException {
        String file = s.word("file");
        boolean kept = madeHot.contains(file) && s.is("cache", "hot");
        var process = Native.start(s, "the state of the page cache", "prepare-file", "file=" + file, "bytes=" + s.bytes,
            "place=" + s.word("place"), "consume=" + s.word("consume"), "order=" + s.word("order"), "cache=" + s.word("cache"),
            "memory=unbounded", kept ? "kept=yes" : "kept=no");
        Map<String, Long> found = new HashMap<>();
        try (var lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
            for (String line; (line = lines.readLine()) != null;) {
                String[] fields = line.split("\t");
                if (fields[0].equals("skip"))
                    throw s.skip(fields[2]);
                if (fields[0].equals("fail"))
                    throw s.fail(fields[4], new IOException(fields[6]));
                String[] words = line.split(" ");
                found.put(words[0], Long.parseUnsignedLong(words[1]));
            }
        }
        if (found.isEmpty())
            throw s.fail("prepare-file", new IOException("the native worker said nothing"));
        if (s.is("cache", "hot"))
            madeHot.add(file);
        else
            madeHot.remove(file);
        return found;
    }

    private int[] shuffled(Slot s) {
        if (steps > Integer.MAX_VALUE - 8)
            throw s.skip("an array holds at most 2^31 blocks");
        int[] all = new int[(int) steps];
        long x = s.seed | 1;
        for (int i = 0; i < all.length; i++) {
            x ^= x >>> 12;
            x ^= x << 25;
            x ^= x >>> 27;
            int j = (int) ((x * Content.XORSHIFT_FACTOR >>> 32) % (i + 1));
            all[i] = all[j];
            all[j] = i;
        }
        return all;
    }

    public long offset(long step) {
        return (blocks == null ? step : blocks[(int) step]) * stepBytes;
    }

    public long length(long offset) {
        return Math.min(stepBytes, bytes - offset);
    }

    /** Takes bytes that a buffer (in little-endian order) holds. */
    public void consume(ByteBuffer p, int from, int length) {
        deliveredBytes += length;
        if (sums)
            sum += summed(p, from, length);
        else if (walks)
            walk.piece(p, from, from + length);
        else if (mapped)
            sum ^= touched(p, from, length);
    }

    private static long summed(ByteBuffer p, int from, int length) {
        long sum = 0;
        int end = from + (length & ~7);
        for (int i = from; i < end; i += 8)
            sum += p.getLong(i);
        long tail = 0;
        for (int i = end; i < from + length; i++)
            tail |= (p.get(i) & 0xFFL) << 8 * (i - end);
        return sum + tail;
    }

    private static long touched(ByteBuffer p, int from, int length) {
        long any = 0;
        for (int i = from; i < from + length; i += BLOCK_BYTES)
            any ^= p.get(i);
        return any;
    }

    private static long counted(String name) throws IOException {
        try (var lines = new BufferedReader(new FileReader("/proc/self/io"))) {
            for (String line; (line = lines.readLine()) != null;)
                if (line.startsWith(name))
                    return Long.parseLong(line.substring(name.length()));
        }
        return 0;
    }

    /** Bytes of the file that are mapped in. */
    public void mappedBytes() throws IOException {
        long rss = 0;
        boolean ours = false;
        try (var lines = new BufferedReader(new FileReader("/proc/self/smaps"))) {
            for (String line; (line = lines.readLine()) != null;)
                if (line.matches("[0-9a-f]+-[0-9a-f]+ .*"))
                    ours = line.endsWith(" " + path.toRealPath());
                else if (ours && line.startsWith("Rss:"))
                    rss += Long.parseLong(line.replaceAll("\\D", "")) * 1024;
        }
        s.fact("mapped_bytes", rss);
    }

    /**
     * Pages beyond the end of a file that has become shorter cannot be faulted in; the virtual machine makes an InternalError
     * of the SIGBUS, which may arrive some time after the access.
     */
    RuntimeException faulted(InternalError error) throws IOException {
        if (Files.size(path) >= bytes)
            throw error;
        return s.fail("mmap",
            new IOException("SIGBUS: the file ended before its mapped bytes were read: it has become shorter"));
    }

    /** After the read phase: what the kernel counted since the constructor. */
    public void count() throws IOException {
        s.fact("read_calls", counted("syscr: ") - readCalls);
        s.fact("device_bytes", counted("read_bytes: ") - deviceBytes);
        try (var lines = new BufferedReader(new FileReader("/proc/self/status"))) {
            for (String line; (line = lines.readLine()) != null;)
                if (line.startsWith("VmHWM:"))
                    s.fact("peak_rss_bytes", Long.parseLong(line.replaceAll("\\D", "")) * 1024);
        }
        if (walks && walk.damaged)
            throw s.fail("read", new IOException("record " + walk.records + " claims " + walk.wrongBytes
                + " bytes, more than any record of this file may have (" + limit + "): it is damaged"));
    }

    /** After the clock. */
    public void end() {
        for (String name : new String[] {"resident_before_bytes", "stored_bytes", "counted"})
            s.fact(name, found.get(name));
        s.fact("delivered_bytes", deliveredBytes);
        s.fact("step_bytes", stepBytes);
        s.fact("page_bytes", s.pageBytes);
        if (walks) {
            s.fact("records", walk.records);
            s.fact("record_bytes", walk.recordBytes);
            s.fact("cut_bytes", cutBytes < 0 ? walk.cutBytes() : cutBytes);
        }
        s.digest(sums ? sum : walks ? walk.fold ^ walk.records * Content.GOLDEN ^ walk.recordBytes : deliveredBytes);
    }
}
