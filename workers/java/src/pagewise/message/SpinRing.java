package pagewise.message;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import pagewise.Method;
import pagewise.Slot;

/**
 * A ring in a mapped file on tmpfs, its turns by VarHandle: two slots each way, each a payload and behind it its turn, on
 * cache lines of their own. The layout is the native spin ring's.
 */
public final class SpinRing implements Method {
    private static final VarHandle TURN = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int SLOTS = 2, ALIGN = 128, TURN_BYTES = 8;

    private static final class Ring implements Link {
        private final MappedByteBuffer memory;
        private final int bytes, turnAt, slotBytes, out, in;
        private long turnOut, turnIn;

        Ring(MappedByteBuffer memory, int bytes, char role) {
            this.memory = memory;
            this.bytes = bytes;
            turnAt = turnAt(bytes);
            slotBytes = slotBytes(bytes);
            out = role == 'a' ? 0 : SLOTS * slotBytes;
            in = role == 'a' ? SLOTS * slotBytes : 0;
        }

        /** The payload is written before its turn and read after it. */
        @Override
        public void send(ByteBuffer message) {
            int slot = out + (int) (turnOut % SLOTS) * slotBytes;
            memory.put(slot, message, 0, bytes);
            TURN.setRelease((ByteBuffer) memory, slot + turnAt, ++turnOut);
        }

        @Override
        public void receive(ByteBuffer message) {
            int slot = in + (int) (turnIn++ % SLOTS) * slotBytes;
            int tries = 0;
            while ((long) TURN.getAcquire((ByteBuffer) memory, slot + turnAt) != turnIn)
                tries = Message.tried(tries, Message.TRIES_IN_MEMORY);
            message.put(0, memory, slot, bytes);
        }

        @Override
        public void close() {
            // The mapping goes with the process; it runs this one cell.
        }
    }

    private static int turnAt(int bytes) {
        return (bytes + TURN_BYTES - 1) / TURN_BYTES * TURN_BYTES;
    }

    private static int slotBytes(int bytes) {
        return (turnAt(bytes) + TURN_BYTES + ALIGN - 1) / ALIGN * ALIGN;
    }

    /** Written and not only sized, so that a full file system says so here and not by a fault in the loop. */
    private static void create(Slot s, Path path, int bytes) throws IOException {
        try {
            Files.write(path, new byte[bytes], StandardOpenOption.CREATE_NEW);
        } catch (IOException e) {
            Files.deleteIfExists(path);
            throw s.fail("write " + path, e);
        }
    }

    private static Link open(Slot s, Message m) throws IOException {
        Path path = Path.of("/dev/shm", s.launchName() + "-ring");
        int both = 2 * SLOTS * slotBytes(m.bytes), whole = (both + s.pageBytes - 1) / s.pageBytes * s.pageBytes;
        if (s.role() == 'a')
            create(s, path, whole);
        s.sides().meet();
        MappedByteBuffer memory;
        try (var file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = file.map(FileChannel.MapMode.READ_WRITE, 0, whole);
        }
        memory.load();
        s.sides().meet();
        if (s.role() == 'a')
            Files.delete(path);
        return new Ring(memory, m.bytes, s.role());
    }

    private static void onlySpins(Slot s) {
        if (s.is("wait", "block"))
            throw s.skip("a spin ring never sleeps; futex-ring and eventfd are the same ring with sleep");
    }

    @Override
    public void run(Slot s) throws Exception {
        onlySpins(s);
        try (var m = new Message(s); var link = open(s, m)) {
            m.ask(link);
        }
    }

    @Override
    public void runB(Slot s) throws Exception {
        onlySpins(s);
        try (var m = new Message(s); var link = open(s, m)) {
            m.answer(link);
        }
    }
}
