package pagewise;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Keeps samples and facts and writes them once, at the end. Samples are numbers in one array that is there from the start. */
final class Transcript {
    private static final int FIELDS = 14;
    private final StringBuilder head = new StringBuilder();
    private final List<String> lines = new ArrayList<>(), endings = new ArrayList<>();
    private final String[] phases;
    private final long[] samples;
    private int count;

    Transcript(int capacity) {
        samples = new long[capacity * FIELDS];
        phases = new String[capacity];
    }

    void head(String line) {
        head.append(line).append('\n');
    }

    void columns() {
        head("columns\tslot\tround\tcell\tphase\tops\tbytes\tstart_ns\twall_ns\tcpu_ns\tuser_ns\tsystem_ns\tminor_faults"
            + "\tmajor_faults\tvoluntary_switches\tinvoluntary_switches");
    }

    void sample(Slot s, String phase, long startNs, long wallNs, Counters before, Counters after) {
        if (count == phases.length)
            throw new IllegalStateException("a method timed more phases than it declares: " + phase);
        phases[count] = phase;
        long[] v = samples;
        int i = count++ * FIELDS;
        v[i] = s.number;
        v[i + 1] = s.round;
        v[i + 2] = s.cell.number;
        v[i + 3] = s.ops;
        v[i + 4] = s.phaseBytes;
        v[i + 5] = startNs;
        v[i + 6] = wallNs;
        v[i + 7] = after.cpuNs - before.cpuNs;
        v[i + 8] = after.userNs - before.userNs;
        v[i + 9] = after.systemNs - before.systemNs;
        v[i + 10] = after.minorFaults - before.minorFaults;
        v[i + 11] = after.majorFaults - before.majorFaults;
        v[i + 12] = after.voluntary - before.voluntary;
        v[i + 13] = after.involuntary - before.involuntary;
    }

    /** Drops what was recorded so far. */
    void forget() {
        forget(0, 0);
    }

    int samples() {
        return count;
    }

    int lines() {
        return lines.size();
    }

    /** Drops what was recorded after so many samples and lines. */
    void forget(int samples, int kept) {
        count = samples;
        lines.subList(kept, lines.size()).clear();
    }

    void line(String line) {
        lines.add(line);
    }

    void ending(String line) {
        endings.add(line);
    }

    private void sampleLine(StringBuilder out, int index) {
        out.append("sample");
        for (int i = 0; i < FIELDS; i++) {
            if (i == 3)
                out.append('\t').append(phases[index]);
            out.append('\t').append(samples[index * FIELDS + i]);
        }
        out.append('\n');
    }

    /** `whole` is false where a two-sided launch ends early: then no `done` may stand there. */
    void write(boolean whole) {
        StringBuilder out = new StringBuilder(head);
        for (int i = 0; i < count; i++)
            sampleLine(out, i);
        lines.forEach(line -> out.append(line).append('\n'));
        endings.forEach(line -> out.append(line).append('\n'));
        if (whole)
            out.append("done\t").append(count).append('\n');
        try (var stream = new FileOutputStream(FileDescriptor.out)) {
            stream.write(out.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            System.err.println("the transcript cannot be written: " + e.getMessage());
            Runtime.getRuntime().halt(3);
        }
    }
}
