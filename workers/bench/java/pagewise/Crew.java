package pagewise;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/** The threads of a turn: the caller, and helpers that wait at a phase's start line. They are made once in a process. */
final class Crew {
    private static final int SPINS = 1024; // until a waiting thread gives its CPU away
    private static Crew last;

    private final Thread[] helpers;
    private final AtomicInteger ready = new AtomicInteger(), finished = new AtomicInteger();
    private volatile int called, started; // turns whose helpers come to the line, and may leave it
    private volatile IntConsumer work;
    private volatile Throwable cause; // of the last thread that broke off
    private boolean isArmed;

    private Crew(int threads) {
        helpers = new Thread[threads - 1];
        for (int i = 0; i < helpers.length; i++) {
            int index = i + 1;
            helpers[i] = new Thread(() -> help(index), "pagewise-" + index);
            helpers[i].setDaemon(true);
            helpers[i].start();
        }
        // Their time is part of a phase's CPU time.
        Counters.findThreads();
    }

    /** The crew of so many threads; null where the caller is alone. */
    static Crew of(int threads) {
        if (threads < 2)
            return null;
        if (last == null || last.helpers.length != threads - 1)
            last = new Crew(threads);
        return last;
    }

    private void help(int index) {
        for (int turn = 1;; turn++) {
            while (called < turn)
                LockSupport.park(this);
            ready.incrementAndGet();
            for (int spins = 1; started < turn; spins++)
                pause(spins);
            perform(index);
            finished.incrementAndGet();
        }
    }

    private static void pause(int spins) {
        if (spins % SPINS == 0)
            Thread.yield();
        else
            Thread.onSpinWait();
    }

    private void perform(int index) {
        try {
            work.accept(index);
        } catch (Throwable e) {
            cause = e;
        }
    }

    /** Has each helper spin at the start line. */
    void arm() {
        if (isArmed)
            return;
        isArmed = true;
        ready.set(0);
        finished.set(0);
        called = called + 1;
        for (Thread helper : helpers)
            LockSupport.unpark(helper);
        for (int spins = 1; ready.get() < helpers.length; spins++)
            pause(spins);
    }

    /** Has every thread do this work, and throws what the last one threw that broke off. */
    void run(IntConsumer work) {
        arm();
        isArmed = false;
        this.work = work;
        started = called;
        perform(0);
        for (int spins = 1; finished.get() < helpers.length; spins++)
            pause(spins);
        Throwable broken = cause;
        cause = null;
        if (broken instanceof Error e)
            throw e;
        if (broken != null)
            throw (RuntimeException) broken;
    }

    /** Lets helpers go that got no work in their phase. */
    void release() {
        if (isArmed)
            run(thread -> {
            });
    }
}
