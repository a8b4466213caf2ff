package pagewise;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The stopwatch: <code>try (var phase = s.phase("map")) { … }</code> times exactly what is between its braces. Counters are
 * read before the first clock read and after the second. There is one Phase for the whole launch: a phase makes no garbage.
 */
public final class Phase implements AutoCloseable {
    private final Counters before = new Counters(), after = new Counters();
    private final Transcript transcript;
    private Slot slot;
    private long startNs;
    String name; // null between phases
    boolean warms; // nothing of the warm-up is kept, so nothing is counted

    Phase(Transcript transcript) {
        this.transcript = transcript;
    }

    Phase begin(Slot slot, String name) {
        this.slot = slot;
        this.name = name;
        if (warms)
            return this;
        try {
            before.readBefore();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (slot.worker.request.traceMarks)
            mark("phase", name);
        startNs = System.nanoTime();
        return this;
    }

    /** Java refuses to write to descriptor -1, so a mark is a look at a file that is not there. */
    private static void mark(String word, String name) {
        new File("/pagewise-mark/" + word + " " + name).exists();
    }

    @Override
    public void close() {
        long wallNs = System.nanoTime() - startNs;
        if (warms) {
            name = null;
            return;
        }
        if (slot.worker.request.traceMarks)
            mark("end", name);
        try {
            after.readAfter();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        transcript.sample(slot, name, startNs, wallNs, before, after);
        slot.collections += after.collections - before.collections;
        slot.collectionNs += after.collectionNs - before.collectionNs;
        slot.compileNs += after.compileNs - before.compileNs;
        name = null;
    }
}
