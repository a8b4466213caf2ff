package pagewise;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * One turn of a user's method:
 *
 * <pre>
 * @pagewise.Param("bytes=1MiB,64MiB")
 * class Mine {
 *     @pagewise.Bench
 *     static long fill(pagewise.Run run) {
 *         byte[] all;
 *         try (var phase = run.phase("fill")) { // what is between these braces is timed
 *             all = new byte[(int) run.value("bytes")];
 *         }
 *         return all.length; // its result: every method must come to the same
 *     }
 * }
 * </pre>
 *
 * A method without a phase is timed as a whole.
 */
public final class Run {
    /** Units of a number that is no size; times are in nanoseconds. */
    private static final Map<String, Double> UNITS = Map.ofEntries(Map.entry("", 1e0), Map.entry("k", 1e3), Map.entry("K", 1e3),
        Map.entry("M", 1e6), Map.entry("G", 1e9), Map.entry("ns", 1e0), Map.entry("us", 1e3), Map.entry("µs", 1e3),
        Map.entry("ms", 1e6), Map.entry("s", 1e9), Map.entry("min", 6e10));
    private final Slot slot;
    private final Crew crew;
    boolean hasBytes;

    Run(Slot slot) {
        this.slot = slot;
        crew = Crew.of("count".equals(slot.cell.declared.kindOf("threads")) ? (int) slot.size("threads") : 1);
    }

    public Phase phase(String name) {
        if (crew != null)
            crew.arm();
        return slot.phase(name);
    }

    /**
     * Calls this work, with the thread's number, on each of the <code>threads</code>, and waits for all. In a phase they start
     * together with it.
     */
    public void onThreads(IntConsumer work) {
        if (crew == null)
            work.accept(0);
        else
            crew.run(work);
    }

    /** The number of a parameter in this turn. */
    public long value(String name) {
        String text = text(name), digits = text.replaceFirst("[A-Za-zµ]*$", "");
        if (digits.equals(text))
            return Long.parseLong(text);
        Double scale = UNITS.get(text.substring(digits.length()));
        if (scale == null || digits.isEmpty())
            throw new IllegalArgumentException(name + "=" + text + " is no number: read it by text or is");
        return Math.round(Double.parseDouble(digits) * scale);
    }

    /** Its word or its path. */
    public String text(String name) {
        String text = slot.word(name);
        if (text == null)
            throw new IllegalArgumentException("there is no parameter " + name);
        return text;
    }

    public boolean is(String name, String word) {
        return text(name).equals(word);
    }

    /**
     * The path of a file of as many bytes as a parameter says, with the content that INPUT of pagewise.h has with this seed. It
     * is made once in a process and removed with the launch: ask for it before a phase.
     */
    public String input(String name, long seed) throws IOException {
        long bytes = value(name);
        Path path = Path.of(slot.launchDirectory(), "input-" + name + "-" + bytes + "-" + seed);
        try (var file = Files.newByteChannel(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer block = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
            for (long at = 0; at < bytes; at += block.capacity()) {
                for (int k = 0; k < block.capacity(); k += 8)
                    block.putLong(k, Content.patternWord(seed, (at + k) / 8));
                block.limit((int) Math.min(block.capacity(), bytes - at)).position(0);
                while (block.hasRemaining())
                    file.write(block);
                block.clear();
            }
        } catch (FileAlreadyExistsException made) {
            // An earlier turn has made it.
        }
        return path.toString();
    }

    /** Takes a file out of the page cache, before a phase that reads it. A file that stays in memory skips the method. */
    public void cold(String path) throws IOException {
        long size = Files.size(Path.of(path));
        long stays = Helper.prepared(slot, "file=" + path, "bytes=" + size, "place=any", "consume=none", "order=sequential",
            "cache=cold", "memory=unbounded").get("resident_before_bytes");
        if (64 * stays > size)
            throw slot.skip(path + " cannot be made cold: " + stays + " of its " + size + " bytes stay in memory");
    }

    /** Operations in each phase that follows: figures are those of one. */
    public void operations(long count) {
        slot.ops = count;
    }

    /** Their number of bytes instead, for figures in GB/s; every method of the file has it then. */
    public void bytes(long count) {
        slot.ops = slot.phaseBytes = count;
        hasBytes = true;
    }

    public void fact(String name, long value) {
        slot.fact(name, value);
    }

    /** Ends this turn: the machine cannot do this. */
    public RuntimeException skip(String reason) {
        throw slot.skip(reason);
    }

    /** Lets threads go that got no work. */
    void end() {
        if (crew != null)
            crew.release();
    }

    /** What the work came to. */
    void result(Object value) {
        if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte)
            slot.digest(((Number) value).longValue());
        else if (value != null)
            slot.digest(java.util.Arrays.deepHashCode(new Object[] {value}));
    }
}
