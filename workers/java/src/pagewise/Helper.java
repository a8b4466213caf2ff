package pagewise;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What Java cannot do itself is asked of the helper program, whose path the laboratory gives in the environment. */
public final class Helper {
    private Helper() {
    }

    /** Has it put a file's cached pages into a state; what it found, by name. */
    public static Map<String, Long> prepared(Slot s, String... words) throws IOException {
        List<String> all = new ArrayList<>(List.of(words));
        all.add(0, "prepare-file");
        var process = start(s, "the state of the page cache", all.toArray(String[]::new));
        Map<String, Long> found = new HashMap<>();
        try (var lines = new BufferedReader(new InputStreamReader(process.getInputStream()))) {
            for (String line; (line = lines.readLine()) != null;) {
                String[] fields = line.split("\t");
                if (fields[0].equals("skip"))
                    throw s.skip(fields[2]);
                if (fields[0].equals("fail"))
                    throw s.fail(fields[4], new IOException(fields[6]));
                String[] parts = line.split(" ");
                found.put(parts[0], Long.parseUnsignedLong(parts[1]));
            }
        }
        if (found.isEmpty())
            throw s.fail("prepare-file", new IOException("the helper said nothing"));
        return found;
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
