package pagewise.message;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import pagewise.Native;
import pagewise.Slot;

/**
 * `pin=`: where this side's measuring thread runs, by the same choice as the native worker's. Java cannot set a thread's
 * affinity, so the native worker does it. The virtual machine's other threads stay free.
 */
final class Pin {
    private final Slot s;
    private final String before;
    private final boolean pinned;

    Pin(Slot s, boolean spins) throws IOException {
        this.s = s;
        before = allowed();
        List<Integer> cpus = parse(before);
        if (spins && (s.is("pin", "same") || cpus.size() < 2))
            throw s.skip("two sides that spin on one CPU wait for the scheduler and not for each other");
        if (s.is("pin", "apart") && cpus.size() < 2)
            throw s.skip("pin=apart needs two CPUs, and one is allowed here");
        pinned = !s.is("pin", "none");
        int first = cpus.get(0);
        if (pinned)
            set(String.valueOf(s.is("pin", "apart") && s.role() == 'b' ? apartFrom(first, cpus) : first));
    }

    void release() throws IOException {
        if (pinned)
            set(before);
    }

    /** Both sides tell each other where they ran. */
    void fact() throws IOException {
        int mine = s.cpu();
        s.sides().tell(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(mine).array());
        int theirs = ByteBuffer.wrap(s.sides().hear(4)).order(ByteOrder.LITTLE_ENDIAN).getInt();
        s.fact(s.role() == 'b' ? "b.cpu" : "cpu", mine);
        if (s.role() == 'a')
            s.fact("cpus", mine == theirs ? 1 : 2);
    }

    private static String allowed() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/thread-self/status")))
            if (line.startsWith("Cpus_allowed_list:"))
                return line.substring(line.indexOf(':') + 1).trim();
        throw new IOException("/proc/thread-self/status has no Cpus_allowed_list");
    }

    private static List<Integer> parse(String list) {
        List<Integer> cpus = new ArrayList<>();
        for (String part : list.split(",")) {
            String[] ends = part.split("-");
            for (int cpu = Integer.parseInt(ends[0]); cpu <= Integer.parseInt(ends[ends.length - 1]); cpu++)
                cpus.add(cpu);
        }
        return cpus;
    }

    /** A text of /sys that is the same for two CPUs of one core. */
    private static String coreOf(int cpu) {
        try {
            return Files.readString(Path.of("/sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list"));
        } catch (IOException e) {
            return "cpu" + cpu;
        }
    }

    private static int apartFrom(int other, List<Integer> cpus) {
        return cpus.stream().filter(cpu -> !coreOf(cpu).equals(coreOf(other))).findFirst().orElse(cpus.get(1));
    }

    private void set(String cpus) throws IOException {
        Process native_ = Native.start(s, "pin=" + s.word("pin"), "pin", s.threadNumber(), cpus);
        try {
            if (native_.waitFor() != 0)
                throw new IOException("the native worker could not pin this thread to CPU " + cpus);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
