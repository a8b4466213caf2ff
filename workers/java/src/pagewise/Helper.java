package pagewise;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What Java cannot do itself is asked of the helper program, whose path the laboratory gives in the environment. */
public final class Helper {
    private Helper() {
    }

    /** Starts the helper with these words; skips the cell where it is not known. */
    public static Process start(Slot s, String purpose, String... words) {
        String program = System.getenv("PAGEWISE_HELPER");
        if (program == null)
            throw s.skip(purpose + " needs the helper's path in PAGEWISE_HELPER");
        List<String> command = new ArrayList<>(List.of(words));
        command.add(0, program);
        try {
            return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        } catch (IOException e) {
            throw s.fail("start " + program, e);
        }
    }
}
