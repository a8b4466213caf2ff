package pagewise;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the counters of a sample from /proc, without making garbage. Faults and the user/system split are the process's.
 * cpu_ns is the measuring thread's CPU clock plus what the scheduler charged to every other thread (collector, compiler):
 * the virtual machine's own figure for the process has a grain of 10 ms. Switches are the measuring thread's.
 */
public final class Counters {
    private static final long TICK_NS = 10_000_000; // USER_HZ is 100 in every Linux interface

    long cpuNs, userNs, systemNs, minorFaults, majorFaults, voluntary, involuntary, collections, collectionNs, compileNs;

    private static final class Task {
        final RandomAccessFile schedstat;
        long cpuNs;
        boolean ended;

        Task(RandomAccessFile schedstat) {
            this.schedstat = schedstat;
        }
    }

    private static final byte[] text = new byte[8192];
    private static int length, at;
    private static final Map<String, Task> others = new HashMap<>();
    private static Task[] polled = new Task[0];
    private static RandomAccessFile stat, status, threadStat;
    private static String own;
    private static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private static final List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    private static final CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();

    /** Called once by the thread that measures. */
    static void open() throws IOException {
        stat = new RandomAccessFile("/proc/self/stat", "r");
        status = new RandomAccessFile("/proc/thread-self/status", "r");
        threadStat = new RandomAccessFile("/proc/thread-self/stat", "r");
        own = new File("/proc/thread-self").getCanonicalFile().getName();
        findThreads();
    }

    /** The number by which the kernel knows the measuring thread. */
    static String ownThread() {
        return own;
    }

    /** The CPU of the measuring thread; -1 where it cannot be read. It is the 39th field of the thread's stat line. */
    static int cpu() {
        try {
            load(threadStat);
        } catch (IOException e) {
            return -1;
        }
        for (at = length; at > 0 && text[at - 1] != ')'; at--)
            continue;
        skipWords(36);
        return (int) nextNumber();
    }

    /** Faults of the whole process so far; for checks, not for phases: it allocates. */
    public static long faults() throws IOException {
        String text = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[7]) + Long.parseLong(fields[9]);
    }

    /** Takes threads in that were started since; called before a slot. */
    static void findThreads() {
        String[] now = new File("/proc/self/task").list();
        for (String id : now == null ? new String[0] : now) {
            if (id.equals(own) || others.containsKey(id))
                continue;
            try {
                others.put(id, new Task(new RandomAccessFile("/proc/self/task/" + id + "/schedstat", "r")));
            } catch (IOException e) {
                continue; // it ended between the listing and now
            }
        }
        polled = others.values().toArray(new Task[0]);
    }

    private static void load(RandomAccessFile file) throws IOException {
        file.seek(0);
        length = Math.max(0, file.read(text));
        at = 0;
    }

    private static long nextNumber() {
        while (at < length && (text[at] < '0' || text[at] > '9'))
            at++;
        long value = 0;
        for (; at < length && text[at] >= '0' && text[at] <= '9'; at++)
            value = 10 * value + text[at] - '0';
        return value;
    }

    private static void skipWords(int count) {
        for (int i = 0; i < count; i++) {
            while (at < length && text[at] == ' ')
                at++;
            while (at < length && text[at] != ' ')
                at++;
        }
    }

    private void readStat() throws IOException {
        load(stat);
        for (at = length; at > 0 && text[at - 1] != ')'; at--)
            continue;
        skipWords(7); // state ppid pgrp session tty_nr tpgid flags
        minorFaults = nextNumber();
        nextNumber();
        majorFaults = nextNumber();
        nextNumber();
        userNs = nextNumber() * TICK_NS;
        systemNs = nextNumber() * TICK_NS;
    }

    /** The two last lines of `status`, whose names end in "ctxt_switches:". */
    private void readSwitches() throws IOException {
        load(status);
        at = length - 1;
        while (at > 0 && text[at - 1] != '\n')
            at--;
        int last = at;
        involuntary = nextNumber();
        at = last - 1;
        while (at > 0 && text[at - 1] != '\n')
            at--;
        voluntary = nextNumber();
    }

    private void readCpu() {
        long sum = threads.getCurrentThreadCpuTime();
        for (Task task : polled) {
            if (!task.ended) {
                try {
                    load(task.schedstat);
                    if (length > 0)
                        task.cpuNs = nextNumber();
                } catch (IOException e) {
                    task.ended = true; // its last figure stays in the sum
                }
            }
            sum += task.cpuNs;
        }
        cpuNs = sum;
    }

    /** Time of all compilations so far, in milliseconds. */
    static long compiledMs() {
        return compiler == null ? 0 : compiler.getTotalCompilationTime();
    }

    /** True while the virtual machine compiles: a thread of its compilers runs or waits for a CPU. */
    static boolean compiles() {
        String[] now = new File("/proc/self/task").list();
        for (String id : now == null ? new String[0] : now) {
            try {
                String stat = Files.readString(Path.of("/proc/self/task", id, "stat"));
                int end = stat.lastIndexOf(')');
                if (stat.substring(0, end).contains("Compiler") && stat.charAt(end + 2) != 'S')
                    return true;
            } catch (IOException e) {
                continue; // it ended between the listing and now
            }
        }
        return false;
    }

    private void readMachine() {
        collections = collectionNs = 0;
        for (int i = 0; i < collectors.size(); i++) {
            collections += collectors.get(i).getCollectionCount();
            collectionNs += collectors.get(i).getCollectionTime() * 1_000_000;
        }
        compileNs = compiledMs() * 1_000_000;
    }

    /** Before a phase: what is read last is what the clock stands next to. */
    void readBefore() throws IOException {
        readMachine();
        readSwitches();
        readStat();
        readCpu();
    }

    void readAfter() throws IOException {
        readCpu();
        readStat();
        readSwitches();
        readMachine();
    }
}
