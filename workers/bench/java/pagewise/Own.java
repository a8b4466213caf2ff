package pagewise;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The worker of a user's methods. The laboratory has listed them in functions.tsv and written the class that calls them. */
public final class Own {
    static final String WHOLE = "run";

    /** Calls of the user's methods. */
    public interface Functions {
        /** The result of a method; null where it gives none. */
        Object call(String name, Run run) throws Exception;
    }

    private Own() {
    }

    private static Method method(Functions functions, Declared declared) {
        String name = declared.name;
        String[] phases = declared.phases();
        if (name.equals("empty"))
            return s -> {
                for (String phase : phases)
                    try (var open = s.phase(phase)) {
                    }
            };
        boolean isWhole = phases.length == 1 && phases[0].equals(WHOLE);
        return s -> {
            Run run = new Run(s);
            Object result;
            if (isWhole) {
                try (var open = s.phase(WHOLE)) {
                    result = functions.call(name, run);
                }
            } else {
                result = functions.call(name, run);
            }
            run.result(result);
        };
    }

    /** Arguments: those of any worker. */
    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        // What a method prints is no part of the transcript: it goes nowhere.
        PrintStream list = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        String archive = Path.of(System.getProperty("java.class.path")).getFileName().toString();
        Worker.name = archive.replaceFirst("\\.jar$", "");
        List<String> about = new ArrayList<>();
        String called = null;
        for (String line : Declared.lines("/functions.tsv"))
            if (line.startsWith("class\t"))
                called = line.substring("class\t".length());
            else if (!line.startsWith("method\t"))
                about.add(line);
        var functions = (Functions) Class.forName(called).getConstructor().newInstance();
        List<Declared> declared = Declared.all("/functions.tsv");
        declared.forEach(one -> one.made = method(functions, one));
        Worker.warmUpNs = 100_000_000;
        Worker.serve(arguments, declared, about, list);
    }
}
