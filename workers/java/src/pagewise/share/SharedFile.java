package pagewise.share;

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import pagewise.Counters;
import pagewise.Method;
import pagewise.Pin;
import pagewise.Slot;

/**
 * A mapped file that another process, in Java or in C, maps by its path: side a's job is that of mapped-buffer-absolute, side
 * b is the second process, which pays for pages that are there already. Side by side with the native worker's second.c.
 */
class SharedFile implements Method {
    private static final int NUMBER_OF_A = 16, NUMBER_OF_B = 24, AFTER_READ = 8, AT_ONCE = 9;
    private static final byte AFTER_READ_MARK = (byte) 0xB1, AT_ONCE_MARK = (byte) 0xB2;
    /** Faults that the virtual machine's own threads may make meanwhile; a compilation made 139. */
    private static final int RUNTIME_FAULTS = 192;
    private final boolean tmpfs;

    SharedFile(boolean tmpfs) {
        this.tmpfs = tmpfs;
    }

    @Override
    public void run(Slot s) throws Exception {
        var pin = new Pin(s, false);
        try {
            MappedBufferAbsolute.run(s, new Share(s, tmpfs, true));
            pin.fact();
        } finally {
            pin.release();
        }
    }

    /** Side a: leaves its number, lets b do all its phases, and finds what b stored. */
    static void withB(Slot s, Share share, ByteBuffer memory) throws IOException {
        ByteBuffer p = memory.duplicate().order(ByteOrder.nativeOrder());
        int last = share.bytes - s.pageBytes;
        long found = 0;
        p.putLong(last + NUMBER_OF_A, share.number('a'));
        s.fact("number", share.number('a'));
        s.sides().meet();
        s.sides().meet();
        Files.delete(share.path);
        s.fact("number_seen", p.getLong(last + NUMBER_OF_B));
        for (int i = 0; i < share.bytes; i += s.pageBytes) {
            found += p.get(i + AFTER_READ) == AFTER_READ_MARK ? 1 : 0;
            found += p.get(i + AT_ONCE) == AT_ONCE_MARK ? 1 : 0;
            p.putShort(i + AFTER_READ, (short) 0);
        }
        p.putLong(last + NUMBER_OF_A, 0);
        p.putLong(last + NUMBER_OF_B, 0);
        s.fact("b_stores_seen", found);
    }

    @Override
    public void runB(Slot s) throws Exception {
        var pin = new Pin(s, false);
        try {
            second(s);
            pin.fact();
        } finally {
            pin.release();
        }
    }

    private void second(Slot s) throws Exception {
        var share = new Share(s, tmpfs, true);
        int bytes = share.bytes, page = s.pageBytes, last = bytes - page;
        byte mark = share.mark();
        MappedByteBuffer p;
        long seen;
        s.agree(null); // a could map
        s.sides().meet();
        try (var phase = s.phase("attach")) {
            p = attach(share.path, bytes);
        }
        s.ops = bytes / page;
        try (var phase = s.phase("first-read")) {
            seen = count(p, bytes, page, mark);
        }
        s.fact("b.marks_seen", seen);
        try (var phase = s.phase("write-after-read")) {
            store(p, AFTER_READ, bytes, page, AFTER_READ_MARK);
        }
        p.order(ByteOrder.nativeOrder());
        s.fact("b.number_seen", p.getLong(last + NUMBER_OF_A));
        p.putLong(last + NUMBER_OF_B, share.number('b'));
        s.fact("b.number", share.number('b'));
        s.ops = 1;
        try (var phase = s.phase("detach")) {
            Share.unmap(p);
        }
        p = attach(share.path, bytes);
        s.ops = bytes / page;
        try (var phase = s.phase("first-write")) {
            store(p, AT_ONCE, bytes, page, AT_ONCE_MARK);
        }
        s.fact("b.huge_bytes", hugeBytes(share.path));
        Share.unmap(p);
        p = attach(share.path, bytes);
        try (var phase = s.phase("populate")) {
            p.load();
        }
        s.ops = 1;
        long before = Counters.faults();
        count(p, bytes, page, mark);
        s.fact("b.faults_after_populate", Counters.faults() - before);
        s.fact("b.runtime_faults", RUNTIME_FAULTS);
        Share.unmap(p);
        s.sides().meet();
    }

    private static MappedByteBuffer attach(Path path, int bytes) throws IOException {
        try (var file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, bytes);
        }
    }

    private static long count(ByteBuffer p, int bytes, int page, byte mark) {
        long seen = 0;
        for (int i = 0; i < bytes; i += page)
            seen += p.get(i) == mark ? 1 : 0;
        return seen;
    }

    private static void store(ByteBuffer p, int from, int bytes, int page, byte value) {
        for (int i = from; i < bytes; i += page)
            p.put(i, value);
    }

    private static long hugeBytes(Path path) throws IOException {
        long kib = 0;
        boolean inside = false;
        try (var smaps = new BufferedReader(new FileReader("/proc/self/smaps"))) {
            for (String line; (line = smaps.readLine()) != null;) {
                if (line.matches("[0-9a-f]+-[0-9a-f]+ .*"))
                    inside = line.contains(path.toString());
                else if (inside && (line.startsWith("ShmemPmdMapped:") || line.startsWith("FilePmdMapped:")))
                    kib += Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        return kib * 1024;
    }
}
