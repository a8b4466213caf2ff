package pagewise.prefault;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import pagewise.Slot;

/** A whole virtual machine of the same JDK, whose heap takes the bytes of a cell: what the `jvm` methods share. */
final class HeapProcess {
    private static final long FURTHER_BYTES = 64 << 20; // of the heap: the young generation, and what the machine itself makes
    private static final Path THP = Path.of("/sys/kernel/mm/transparent_hugepage/enabled");

    private HeapProcess() {
    }

    static void run(Slot s, String... options) throws IOException, InterruptedException {
        s.ops = s.bytes;
        var builder = new ProcessBuilder(command(s, options)).redirectError(ProcessBuilder.Redirect.INHERIT);
        Process machine;
        DataInputStream in;
        int ready;
        try (var phase = s.phase("populate")) {
            machine = builder.start();
            in = new DataInputStream(machine.getInputStream());
            ready = in.read();
        }
        try {
            used(s, machine, in, ready);
        } finally {
            machine.destroyForcibly();
        }
    }

    private static void used(Slot s, Process machine, DataInputStream in, int ready) throws IOException, InterruptedException {
        OutputStream out = machine.getOutputStream();
        if (ready != 'r')
            throw s.fail("java", new IOException("the virtual machine ended before its main(): see its messages"));
        s.fact("rss_bytes", kib(machine, "status", "VmRSS:") * 1024);
        s.fact("huge_bytes", kib(machine, "smaps_rollup", "AnonHugePages:") * 1024);
        try (var phase = s.phase("pin")) {
        }
        long faults = faults(machine);
        int used;
        try (var phase = s.phase("first-use")) {
            out.write('u');
            out.flush();
            used = in.read();
        }
        if (used != 'u')
            throw s.fail("java", new IOException("the virtual machine ended while it filled its heap: see its messages"));
        s.fact("first_use_faults", faults(machine) - faults);
        out.write('d');
        out.flush();
        s.digest(in.readLong());
        int status;
        try (var phase = s.phase("teardown")) {
            out.close();
            status = machine.waitFor();
        }
        s.fact("exit_status", status);
    }

    private static List<String> command(Slot s, String... options) {
        long heap = s.bytes + FURTHER_BYTES;
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xms" + heap, "-Xmx" + heap, "-Xmn16m", "-XX:+UseParallelGC",
            "-XX:ParallelGCThreads=" + s.word("threads"), "-XX:-UsePerfData", "-XX:+DisplayVMOutputToStderr"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "pagewise.prefault.Heap", Long.toString(s.bytes),
            Integer.toString(s.pageBytes), Byte.toString((byte) (s.seed | 1))));
        return command;
    }

    /** A row in KiB of a file of the process in /proc. */
    private static long kib(Process machine, String file, String row) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(machine.pid()), file)))
            if (line.startsWith(row))
                return Long.parseLong(line.replaceAll("\\D", ""));
        return 0;
    }

    /** Its faults so far, by its stat line. */
    private static long faults(Process machine) throws IOException {
        String text = Files.readString(Path.of("/proc", Long.toString(machine.pid()), "stat"));
        String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[7]) + Long.parseLong(fields[9]);
    }

    /** Skips where the kernel gives nobody transparent huge pages. */
    static void needsHugePages(Slot s) throws IOException {
        if (!Files.exists(THP) || Files.readString(THP).contains("[never]"))
            throw s.skip("the kernel gives no transparent huge pages here: echo madvise | sudo tee " + THP);
    }
}
