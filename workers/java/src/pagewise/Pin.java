package pagewise;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * `pin=`: where this side's measuring thread runs, by the same choice as the native worker's. Java cannot set a thread's
 * affinity, so the helper does it. The virtual machine's other threads stay free.
 */
public final class Pin {
    private final Slot s;
    private final String before;
    private final boolean pinned;

    public Pin(Slot s, boolean spins) throws IOException {
        this.s = s;
        before = allowed();
        pinned = !s.is("pin", "none");
        if (spins && (s.is("pin", "same") || !pinned && before.matches("[0-9]+")))
            throw s.skip("two sides that spin on one CPU wait for the scheduler and not for each other");
        if (!pinned)
            return;
        String chosen = asked("choose-cpus", s.word("pin"));
        if (chosen.startsWith("skip "))
            throw s.skipAlike(chosen.substring(5));
        set(chosen.split(" ")[s.role() == 'b' ? 1 : 0]);
    }

    public void release() throws IOException {
        if (pinned)
            set(before);
    }

    /** Both sides tell each other where they ran. */
    public void fact() throws IOException {
        int mine = s.cpu();
        s.sides().tell(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(mine).array());
        int theirs = ByteBuffer.wrap(s.sides().hear(4)).order(ByteOrder.LITTLE_ENDIAN).getInt();
        String[] here = asked("place-of", String.valueOf(mine)).split(" ");
        String[] there = asked("place-of", String.valueOf(theirs)).split(" ");
        String side = s.role() == 'b' ? "b." : "";
        s.fact(side + "cpu", mine);
        s.fact(side + "l3", Long.parseLong(here[0]));
        s.fact(side + "node", Long.parseLong(here[1]));
        if (s.role() == 'b')
            return;
        s.fact("cpus", mine == theirs ? 1 : 2);
        s.fact("l3s", here[0].equals(there[0]) ? 1 : 2);
        s.fact("nodes", here[1].equals(there[1]) ? 1 : 2);
    }

    /** One line of the helper's answer. */
    private String asked(String... words) throws IOException {
        Process helper = Helper.start(s, "pin=" + s.word("pin"), words);
        return new String(helper.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
    }

    private static String allowed() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/thread-self/status")))
            if (line.startsWith("Cpus_allowed_list:"))
                return line.substring(line.indexOf(':') + 1).trim();
        throw new IOException("/proc/thread-self/status has no Cpus_allowed_list");
    }

    private void set(String cpus) throws IOException {
        Process helper = Helper.start(s, "pin=" + s.word("pin"), "pin", s.threadNumber(), cpus);
        try {
            if (helper.waitFor() != 0)
                throw new IOException("the helper could not pin this thread to CPU " + cpus);
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }
}
