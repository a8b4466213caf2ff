package pagewise;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The worker of a user's methods. The laboratory has listed them in functions.tsv and written the class that calls them. */
public final class Own {
    /** Calls of the user's methods. */
    public interface Functions {
        /** The result of a method, null where it gives none. One without a phase is called in the phase <code>run</code>. */
        Object call(String name, Run run) throws Exception;
    }

    private Own() {
    }

    /**
     * Loads the user's classes anew, so that a cell has code of its own. In a process in which two functions share classes, the
     * one that runs first or oftener is compiled for other callers and other types than the next one.
     */
    private static final class Loader extends URLClassLoader {
        Loader(Path archive) throws IOException {
            super(new URL[] {archive.toUri().toURL()}, Own.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                boolean isUsers = !name.startsWith("pagewise.") && findResource(name.replace('.', '/') + ".class") != null;
                if (isUsers && findLoadedClass(name) == null)
                    return findClass(name);
                return super.loadClass(name, resolve);
            }
        }
    }

    private static Method method(Path archive, String called, Declared declared, boolean isOfBytes) {
        String name = declared.name;
        String[] phases = declared.phases();
        if (name.equals("empty"))
            return s -> {
                for (String phase : phases)
                    try (var open = s.phase(phase)) {
                    }
            };
        Functions functions;
        try {
            functions = (Functions) new Loader(archive).loadClass(called).getConstructor().newInstance();
        } catch (IOException | ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        return s -> {
            Run run = new Run(s);
            Object result;
            try {
                result = functions.call(name, run);
            } finally {
                run.end();
            }
            run.result(result);
            if (isOfBytes && !run.hasBytes)
                throw new IllegalStateException("it says no bytes, as another method of the file does, so their figures have not "
                    + "the same unit");
        };
    }

    /** Arguments: those of any worker. */
    public static void main(String[] arguments) throws IOException {
        // What a method prints is no part of the transcript: it goes nowhere.
        PrintStream list = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        Path archive = Path.of(System.getProperty("java.class.path"));
        Worker.name = archive.getFileName().toString().replaceFirst("\\.jar$", "");
        List<String> about = new ArrayList<>(), classes = new ArrayList<>();
        for (String line : Declared.lines("/functions.tsv"))
            if (line.startsWith("class\t"))
                classes.add(line.substring("class\t".length()));
            else if (!line.startsWith("method\t"))
                about.add(line);
        boolean isOfBytes = about.contains("about\tunit\tbyte");
        List<Declared> declared = Declared.all("/functions.tsv");
        declared.forEach(one -> one.maker = () -> method(archive, classes.get(0), one, isOfBytes));
        // A program that does its work once does it with code that is not compiled yet. Otherwise the last compilation of a
        // loop of some milliseconds comes after a few hundred turns.
        boolean isFresh = about.contains("about\tfresh\tyes");
        Worker.warmUpNs = isFresh ? 0 : 300_000_000;
        Worker.settles = true;
        Worker.stopwatchTurns = 500;
        Worker.serve(arguments, declared, about, list);
    }
}
