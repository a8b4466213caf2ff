package pagewise;

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

    Phase(Transcript transcript) {
        this.transcript = transcript;
    }

    Phase begin(Slot slot, String name) {
        this.slot = slot;
        this.name = name;
        try {
            before.readBefore();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        startNs = System.nanoTime();
        return this;
    }

    @Override
    public void close() {
        long wallNs = System.nanoTime() - startNs;
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
