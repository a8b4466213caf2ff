package pagewise.message;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import pagewise.Content;
import pagewise.Latencies;
import pagewise.Pin;
import pagewise.Slot;

/**
 * The loops over round trips and the untimed half around them: the same steps in the same order as the native worker's, so
 * that any pair of languages can talk. A process runs one cell, so the calls of Link here have one receiver and are inlined.
 */
final class Message implements AutoCloseable {
    /** Fruitless tries after which a spinning side gives its turn of the CPU away, as the native worker's does. */
    static final int TRIES_IN_MEMORY = 20_000, TRIES_IN_KERNEL = 200;
    private static final int CHECKED = 16; // messages of which every byte is checked, before the timed ones
    private static final long SETTLE_NS = 20_000_000;

    final int bytes;
    final boolean spin;
    private final Slot s;
    private final long ops;
    private final ByteBuffer message;
    private final Pin pin;

    Message(Slot s) throws IOException {
        this.s = s;
        bytes = (int) s.bytes;
        spin = s.is("wait", "spin");
        boolean idle = !s.is("idle", "no");
        if (idle && spin)
            throw s.skipAlike("a side that spins is never idle: idle goes with wait=block");
        pin = new Pin(s, spin);
        try {
            if (idle)
                s.agree(s.role() == 'a' ? "only a side a in C pauses before each message (idle)" : null);
        } catch (RuntimeException e) {
            pin.release();
            throw e;
        }
        ops = s.size("ops");
        message = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
        s.ops = ops;
        s.phaseBytes = ops * bytes;
    }

    static int tried(int tries, int patience) {
        if (++tries % patience == 0)
            Thread.yield();
        return tries;
    }

    @Override
    public void close() throws IOException {
        pin.release();
    }

    private static void stamp(ByteBuffer message, int bytes, long turn) {
        if (bytes >= Long.BYTES)
            message.putLong(0, turn);
        else
            message.put(0, (byte) turn);
    }

    private static long stampOf(ByteBuffer message, int bytes) {
        return bytes >= Long.BYTES ? message.getLong(0) : message.get(0) & 0xFF;
    }

    private static long ask(Link link, ByteBuffer message, int bytes, long ops) throws IOException {
        long sum = 0;
        for (long i = 0; i < ops; i++) {
            stamp(message, bytes, i);
            link.send(message);
            link.receive(message);
            sum += stampOf(message, bytes);
        }
        return sum;
    }

    private static long askTimed(Link link, ByteBuffer message, int bytes, long[] latencies) throws IOException {
        long sum = 0, last = System.nanoTime();
        for (int i = 0; i < latencies.length; i++) {
            stamp(message, bytes, i);
            link.send(message);
            link.receive(message);
            sum += stampOf(message, bytes);
            long now = System.nanoTime();
            latencies[i] = now - last;
            last = now;
        }
        return sum;
    }

    private static long answer(Link link, ByteBuffer message, int bytes, long ops) throws IOException {
        long sum = 0;
        for (long i = 0; i < ops; i++) {
            link.receive(message);
            sum += stampOf(message, bytes);
            link.send(message);
        }
        return sum;
    }

    private long expectedSum() {
        if (bytes >= Long.BYTES)
            return ops * (ops - 1) / 2;
        long rest = ops % 256;
        return ops / 256 * (255 * 256 / 2) + rest * (rest - 1) / 2;
    }

    private void spoil() {
        for (int i = 0; i < bytes; i++)
            message.put(i, (byte) 0xAA);
    }

    private boolean wrong(int turn) {
        return Content.patternFirstWrong(message, 0, bytes, s.seed + turn) != bytes;
    }

    /** Trips that are not counted, until the state is one that lasts, as in the native worker; the last has turn 1. */
    private void settle(Link link) throws IOException {
        boolean sleeps = !spin && !s.is("pin", "same");
        long until = System.nanoTime() + (sleeps ? SETTLE_NS : 0);
        for (long turn = 0; turn == 0;) {
            turn = System.nanoTime() - until >= 0 ? 1 : 0;
            stamp(message, bytes, turn);
            link.send(message);
            link.receive(message);
        }
    }

    /** Side b sees which of them is the last. */
    private void settleAlong(Link link) throws IOException {
        do {
            link.receive(message);
            link.send(message);
        } while (stampOf(message, bytes) == 0);
    }

    /** One trip that is not counted goes before and one behind: neither side's phase has the other's beginning or end in it. */
    private void outerTrip(Link link) throws IOException {
        stamp(message, bytes, 0);
        link.send(message);
        link.receive(message);
    }

    void ask(Link link) throws IOException {
        long wrong = 0, sum, timedSum;
        long[] latencies = new long[(int) ops];
        for (int i = 0; i < CHECKED; i++) {
            Content.patternFill(message, bytes, s.seed + i);
            link.send(message);
            spoil();
            link.receive(message);
            wrong += wrong(i) ? 1 : 0;
        }
        s.fact("wrong_messages", wrong);
        Content.patternFill(message, bytes, s.seed);
        settle(link);
        s.sides().meet();
        outerTrip(link);
        try (var phase = s.phase("round-trips")) {
            sum = ask(link, message, bytes, ops);
        }
        outerTrip(link);
        s.sides().meet();
        outerTrip(link);
        try (var phase = s.phase("timed-trips")) {
            timedSum = askTimed(link, message, bytes, latencies);
        }
        outerTrip(link);
        s.fact("sequence_sum", sum);
        s.fact("expected_sequence_sum", expectedSum());
        Latencies.record(s, latencies);
        finish(sum, timedSum);
        pin.fact();
    }

    void answer(Link link) throws IOException {
        long wrong = 0, sum, timedSum;
        for (int i = 0; i < CHECKED; i++) {
            spoil();
            link.receive(message);
            wrong += wrong(i) ? 1 : 0;
            link.send(message);
        }
        s.fact("b.wrong_messages", wrong);
        settleAlong(link);
        s.sides().meet();
        try (var phase = s.phase("round-trips")) {
            sum = answer(link, message, bytes, ops + 2);
        }
        s.sides().meet();
        try (var phase = s.phase("timed-trips")) {
            timedSum = answer(link, message, bytes, ops + 2);
        }
        s.fact("b.sequence_sum", sum);
        finish(sum, timedSum);
        pin.fact();
    }

    private void finish(long sum, long timedSum) throws IOException {
        if (sum != timedSum)
            throw new IOException("a message of the timed trips was lost, repeated or old");
        s.digest(Content.digest(message, bytes)); // the last message
    }
}
