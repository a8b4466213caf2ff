package pagewise;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** The Java worker: reads a request, runs its slots in the order given, writes the transcript. */
public final class Worker {
    static final int PAGE_BYTES = pageBytes();
    static final int FEATURE = Runtime.version().feature();
    static String name = "java-" + FEATURE;
    static long warmUpNs; // of each cell before the first slot
    static boolean settles; // short turns follow turns of themselves that are not recorded (workers/PROTOCOL.md)
    static int stopwatchTurns; // of an empty phase before that, so that the stopwatch is compiled, no phase loads its classes
    private static final long WARM_UP_SLICE_NS = 2_000_000;
    private static final long SHORT_TURN_NS = 1_000_000, SETTLING_NS = 20_000;
    private static final int MOST_WARM_UP = 4; // times the usual, while the compiler still works
    private static final long COMPILING_NS = 500_000, LONGEST_COMPILING_NS = 2_000_000_000L; // a look, and all of them
    private static final int QUIET_SLICES = 5; // of each cell without a compilation, after which it has done its work

    final Request request;
    final Transcript transcript;
    final Phase phase;
    Sides sides;
    boolean sidesAgree; // the slot ends on both sides alike

    private Worker(Request request) {
        this.request = request;
        int samples = 0;
        for (Request.Round round : request.rounds)
            for (int cell : round.cells())
                samples += request.cells.get(cell).declared.phases().length;
        transcript = new Transcript(samples);
        phase = new Phase(transcript);
    }

    /** Java does not tell; smaps states it for every mapping. */
    private static int pageBytes() {
        try (var lines = new java.io.BufferedReader(new java.io.FileReader("/proc/self/smaps"))) {
            for (String line; (line = lines.readLine()) != null;)
                if (line.startsWith("KernelPageSize:"))
                    return Integer.parseInt(line.replaceAll("\\D", "")) * 1024;
        } catch (IOException e) {
            System.err.println("smaps cannot be read, pages are taken for 4096 bytes: " + e.getMessage());
        }
        return 4096;
    }

    private static String about(long clockReadNs) {
        var runtime = ManagementFactory.getRuntimeMXBean();
        String collectors = ManagementFactory.getGarbageCollectorMXBeans().stream().map(GarbageCollectorMXBean::getName)
            .collect(Collectors.joining(", "));
        return "pagewise\t1\t" + name
            + "\nabout\tvirtual_machine\t" + runtime.getVmName() + " " + runtime.getVmVersion()
            + " (" + runtime.getVmVendor() + ")"
            + "\nabout\tflags\t" + String.join(" ", runtime.getInputArguments())
            + "\nabout\tcollectors\t" + collectors
            + "\nabout\theap_bytes\t" + Runtime.getRuntime().maxMemory()
            + "\nabout\tcpu_clock\tthe measuring thread's CPU clock plus schedstat of all other threads"
            + "\nabout\tswitches\tof the measuring thread"
            + "\nabout\tpage_bytes\t" + PAGE_BYTES
            + (clockReadNs < 0 ? "" : "\nabout\tclock_read_ns\t" + clockReadNs);
    }

    /** What one clock read costs: the smallest mean of 64 rows of 65 reads, once the loop is compiled. */
    private static long clockReadNs() {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 256; i++) {
            long start = System.nanoTime();
            for (int j = 0; j < 64; j++)
                System.nanoTime();
            best = Math.min(best, (System.nanoTime() - start) / 65);
        }
        return best;
    }

    private void run() throws IOException {
        transcript.head(about(clockReadNs()));
        if (request.hardwareCounters)
            for (String column : List.of("cycles", "dtlb_misses"))
                transcript.head("absent\t" + column + "\tthe Java worker opens no hardware counters");
        transcript.columns();
        Counters.open();
        if (request.role != 0)
            sides = Sides.open(request, transcript);
        if (stopwatchTurns > 0)
            warmStopwatch();
        if (warmUpNs > 0)
            warmUp();
        int number = 0;
        for (Request.Round round : request.rounds)
            for (int index : round.cells()) {
                Request.Cell cell = request.cells.get(index);
                if (!cell.ended)
                    runSlot(new Slot(this, cell, number, round.number()));
                number++;
            }
        transcript.write(true);
    }

    private void warmStopwatch() {
        Slot slot = new Slot(this, request.cells.get(0), 0, 0);
        for (int i = 0; i < stopwatchTurns; i++) {
            phase.begin(slot, "warm").close();
            transcript.forget();
        }
    }

    /**
     * Runs the cells for a while, so that their code is compiled: each a little in turn, so that none is compiled long before
     * another, and in the order of the first round, so that none is always the first. Nothing of it is kept; what ends a cell
     * does so again in its slot.
     */
    private void warmUp() {
        List<Request.Cell> left = new ArrayList<>();
        for (Request.Round round : request.rounds)
            for (int index : round.cells())
                if (!left.contains(request.cells.get(index)) && !request.cells.get(index).declared.isEmpty())
                    left.add(request.cells.get(index));
        List<Request.Cell> all = List.copyOf(left);
        long[] spentNs = new long[request.cells.size()];
        long end = System.nanoTime() + MOST_WARM_UP * warmUpNs * all.size();
        // Counters take longer than a short turn, which has to run thousands of times to be compiled.
        phase.warms = true;
        while (!left.isEmpty())
            left.removeIf(cell -> (spentNs[cell.number] += warmUpSlice(cell)) >= warmUpNs);
        phase.warms = false;
        // The compiler works beside it, and later where the machine is busy: on until it has nothing to do for a while.
        // Meanwhile the CPU is the compiler's: turns of code that waits for it say nothing new.
        long before = -1, now = Counters.compiledMs();
        long last = System.nanoTime() + LONGEST_COMPILING_NS;
        while (before != now && System.nanoTime() < Math.max(end, last)) {
            while (Counters.compiles() && System.nanoTime() < last)
                LockSupport.parkNanos(COMPILING_NS);
            before = Counters.compiledMs();
            for (int i = 0; i < QUIET_SLICES && System.nanoTime() < Math.max(end, last); i++)
                all.forEach(this::warmUpSlice);
            now = Counters.compiles() ? -1 : Counters.compiledMs();
        }
    }

    /** Runs a cell for a slice of its warm-up. The nanoseconds that it took; the whole of its warm-up where it ended. */
    private long warmUpSlice(Request.Cell cell) {
        long start = System.nanoTime();
        boolean isEnded = false;
        try {
            if (cell.method == null)
                cell.method = cell.declared.method();
            do {
                unrecorded(cell, 0, 0);
            } while (System.nanoTime() - start < WARM_UP_SLICE_NS);
        } catch (Exception | OutOfMemoryError | InternalError e) {
            transcript.forget();
            isEnded = true;
        }
        phase.name = null;
        return isEnded ? warmUpNs : System.nanoTime() - start;
    }

    /** Runs a cell without a record. */
    private void unrecorded(Request.Cell cell, int number, int round) throws Exception {
        int samples = transcript.samples(), lines = transcript.lines();
        cell.method.run(new Slot(this, cell, number, round));
        transcript.forget(samples, lines);
    }

    private void settle(Slot s) throws Exception {
        long start = System.nanoTime();
        do {
            unrecorded(s.cell, s.number, s.round);
        } while (System.nanoTime() - start < SETTLING_NS);
    }

    private void runSlot(Slot s) {
        Counters.findThreads();
        try {
            if (sides != null)
                sides.meet();
            if (s.cell.declared.needs() > FEATURE)
                throw s.skip("it needs JDK " + s.cell.declared.needs() + " or newer, this is " + FEATURE
                    + ": install one, or name it by --java");
            if (s.cell.method == null)
                s.cell.method = s.cell.declared.method();
            if (settles && !request.traceMarks && s.cell.leastNs < SHORT_TURN_NS)
                settle(s);
            long start = System.nanoTime();
            if (request.role == 'b')
                s.cell.method.runB(s);
            else
                s.cell.method.run(s);
            s.cell.leastNs = Math.min(s.cell.leastNs, System.nanoTime() - start);
            s.fact("gc_count", s.collections);
            s.fact("gc_ns", s.collectionNs);
            s.fact("compile_ns", s.compileNs);
        } catch (Ended e) {
            end(s, e.line);
        } catch (Exception | OutOfMemoryError | InternalError e) {
            end(s, ((Ended) s.fail("run", e)).line);
        }
        phase.name = null;
    }

    private void end(Slot s, String line) {
        s.cell.ended = true;
        transcript.ending(line);
        // A side that stopped in the middle must not leave its peer waiting: ending the process closes all it holds.
        if (sides != null && !sidesAgree) {
            transcript.write(false);
            Runtime.getRuntime().halt(4);
        }
        sidesAgree = false;
    }

    public static void main(String[] arguments) throws IOException {
        serve(arguments, Declared.all("/methods.tsv"), List.of(), System.out);
    }

    /** Lists these methods after lines about the worker and more, or runs a request for them. */
    static void serve(String[] arguments, List<Declared> declared, List<String> more, PrintStream list) throws IOException {
        if (arguments.length == 1 && arguments[0].equals("--list")) {
            list.println(about(-1));
            more.forEach(list::println);
            declared.forEach(method -> list.println(method.line));
            return;
        }
        if (arguments.length > 0) {
            System.err.println("usage: java pagewise.Worker [--list], or a request on standard input");
            System.exit(2);
        }
        try {
            new Worker(new Request(System.in.readAllBytes(), declared)).run();
        } catch (BadRequest e) {
            System.err.println(e.getMessage());
            System.exit(2);
        }
        // Not exit(): a helper thread that a method left behind must not keep the worker alive.
        Runtime.getRuntime().halt(0);
    }
}
