package pagewise;

import java.util.Map;

/** One turn of one cell: what a method's run is given. Fields are read into locals before a measured loop. */
public final class Slot {
    public final int number, round;
    public final long bytes, seed;
    public final int pageBytes;
    /** Units that the next phases are counted in; set by the method, 1 until then. */
    public long ops = 1;
    /** Payload of the next phases in bytes. */
    public long phaseBytes;
    final Request.Cell cell;
    final Worker worker;
    long collections, collectionNs, compileNs;

    Slot(Worker worker, Request.Cell cell, int number, int round) {
        this.worker = worker;
        this.cell = cell;
        this.number = number;
        this.round = round;
        seed = worker.request.seed;
        pageBytes = Worker.PAGE_BYTES;
        bytes = phaseBytes = cell.parameters.containsKey("bytes") ? size("bytes") : 0;
    }

    public Phase phase(String name) {
        return worker.phase.begin(this, name);
    }

    public long size(String key) {
        return Long.parseUnsignedLong(cell.parameters.get(key));
    }

    public boolean is(String key, String word) {
        return word.equals(cell.parameters.get(key));
    }

    public String word(String key) {
        return cell.parameters.get(key);
    }

    public String launchName() {
        return worker.request.name;
    }

    /** A second path beside the rendezvous, in a folder that only this user can enter. */
    public String launchSocket() {
        return worker.request.rendezvous + "m";
    }

    public String launchDirectory() {
        return worker.request.directory;
    }

    /** 'a' or 'b' in two-sided methods, 'a' otherwise. */
    public char role() {
        return worker.request.role == 0 ? 'a' : worker.request.role;
    }

    /** The number by which the kernel knows the measuring thread. */
    public String threadNumber() {
        return Counters.ownThread();
    }

    /** The CPU that it runs on. */
    public int cpu() {
        return Counters.cpu();
    }

    public Sides sides() {
        return worker.sides;
    }

    public void fact(String name, long value) {
        fact(name, Long.toUnsignedString(value));
    }

    public void fact(String name, String value) {
        worker.transcript.line("fact\t" + number + "\t" + cell.number + "\t" + name + "\t" + value);
    }

    public void digest(long digest) {
        fact("digest", String.format("%016x", digest));
    }

    /** One bucket of a latency histogram, see Latencies. */
    void latency(long lowNs, long highNs, long count) {
        worker.transcript.line("latency\t" + number + "\t" + cell.number + "\t" + lowNs + "\t" + highNs + "\t" + count);
    }

    /** Both sides say what keeps them from doing this cell (null: nothing); where there is something, both skip it. */
    public void agree(String obstacle) {
        String theirs = sides().agree(obstacle);
        if (obstacle == null && theirs == null)
            return;
        throw skipAlike(obstacle != null ? obstacle : theirs);
    }

    /** Skips where the other side does the same by itself, so that both go on with the next cell. */
    public RuntimeException skipAlike(String reason) {
        worker.sidesAgree = true;
        return skip(reason);
    }

    public RuntimeException skip(String reason) {
        return new Ended("skip\t" + cell.number + "\t" + reason);
    }

    /** `call` says what failed; the exception says why. Java hides errno; it is found again by the C library's words. */
    public RuntimeException fail(String call, Throwable cause) {
        String message = String.valueOf(cause.getMessage()).replaceAll("[\\t\\n]", " ");
        int errno = ERRNO.entrySet().stream().filter(e -> message.contains(e.getKey())).mapToInt(Map.Entry::getValue)
            .findFirst().orElse(0);
        String phase = worker.phase.name == null ? "-" : worker.phase.name;
        return new Ended("fail\t" + number + "\t" + cell.number + "\t" + phase + "\t" + call + "\t" + errno + "\t"
            + cause.getClass().getSimpleName() + ": " + message);
    }

    private static final Map<String, Integer> ERRNO = Map.of("No such file or directory", 2, "Input/output error", 5,
        "Cannot allocate memory", 12, "Permission denied", 13, "File exists", 17, "No space left on device", 28,
        "Read-only file system", 30, "Broken pipe", 32, "Address already in use", 98, "Connection refused", 111);
}
