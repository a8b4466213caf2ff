package pagewise.read;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import pagewise.Content;
import pagewise.Helper;
import pagewise.Slot;

/** What the Java methods of `read` have in common: the file and its cache before the clock, the steps, the consumer, proofs. */
public final class Reading {
    static final int BLOCK_BYTES = 4096;
    private static final Map<String, String> madeHot = new HashMap<>();

    public final Path path;
    public final long bytes, stepBytes, steps;
    public final boolean swapped;
    public final long limit;
    private final Slot s;
    private final int[] blocks;
    private final boolean sums, walks, mapped;
    private final Map<String, Long> found;
    private final long readCalls, callBytes, deviceBytes;
    final Walk walk;
    long sum, touched, deliveredBytes;
    long bufferBytes; // of the buffer that the bytes go through, where there is one
    long cutBytes = -1; // the walk's own count, where a method does not walk by itself

    /** Before the clock. A mapped file is one step in sequential order, otherwise a chunk; in random order a block. */
    public Reading(Slot s, boolean mapped) throws IOException {
        this.s = s;
        this.mapped = mapped;
        path = Path.of(s.word("file"));
        bytes = s.bytes;
        boolean random = s.is("order", "random");
        sums = s.is("consume", "sum");
        boolean payload = s.is("consume", "payload");
        walks = payload || s.is("consume", "records");
        found = prepared(s);
        swapped = found.get("walk_swapped") != 0;
        limit = found.get("walk_limit");
        walk = walks ? new Walk(swapped, limit, payload) : null;
        stepBytes = random ? BLOCK_BYTES : mapped ? bytes : s.size("chunk");
        steps = (bytes + stepBytes - 1) / stepBytes;
        blocks = random ? shuffled(s) : null;
        s.ops = bytes;
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        readCalls = counted("syscr: ");
        deviceBytes = counted("read_bytes: ");
        callBytes = counted("rchar: "); // last, and its own text comes after it
    }

    /** Java can neither empty the page cache nor ask what is in it; the helper does both, and looks at the file. */
    private static Map<String, Long> prepared(Slot s) throws IOException {
        String file = s.word("file");
        String cache = s.word("cache");
        boolean kept = cache.equals(madeHot.get(file)) && !cache.equals("cold") && !cache.equals("dropped");
        Map<String, Long> found = Helper.prepared(s, "file=" + file, "bytes=" + s.bytes, "place=" + s.word("place"),
            "consume=" + s.word("consume"), "order=" + s.word("order"), "cache=" + cache, "memory=unbounded",
            kept ? "kept=yes" : "kept=no");
        madeHot.put(file, cache);
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
            sum += Words.sum(p, from, length);
        else if (walks)
            walk.piece(p, from, from + length);
        else if (mapped)
            touched += touched(p, from, length);
    }

    private static long touched(ByteBuffer p, int from, int length) {
        long any = 0;
        for (int i = from; i < from + length; i += BLOCK_BYTES)
            any += p.get(i) & 0xFF;
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
        s.fact("call_bytes", counted("rchar: ") - callBytes);
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
        for (String name : new String[] {"resident_before_bytes", "stored_bytes", "counted", "calls_counted"})
            s.fact(name, found.get(name));
        s.fact("delivered_bytes", deliveredBytes);
        s.fact("footprint_bytes", bytes + bufferBytes);
        s.fact("step_bytes", stepBytes);
        s.fact("page_bytes", s.pageBytes);
        if (walks) {
            s.fact("records", walk.records);
            s.fact("record_bytes", walk.recordBytes);
            s.fact("cut_bytes", cutBytes < 0 ? walk.cutBytes() : cutBytes);
        }
        // Of exactly the bytes that were used: nothing where nobody consumes them.
        long digest = sums ? sum : walks ? walk.fold ^ walk.records * Content.GOLDEN ^ walk.recordBytes : 0;
        boolean known = found.get("content_known") != 0 && (sums || walks || mapped);
        s.fact("content_known", known ? 1 : 0);
        if (known)
            s.fact("content_wrong", (sums || walks ? digest : touched) == found.get("content") ? 0 : 1);
        s.digest(digest);
    }
}
