package pagewise.read;

import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import pagewise.Method;
import pagewise.Slot;
import pagewise.Unmap;

/** FileChannel.map into a MappedByteBuffer, and absolute gets. */
public final class MappedBuffer implements Method {
    @Override
    public void run(Slot s) throws Exception {
        if (s.bytes > Integer.MAX_VALUE - 8)
            throw s.skip("a byte buffer holds at most 2 GiB; memory-segment has no such bound");
        Unmap.need(s);
        var in = new Reading(s, true);
        try {
            run(s, in);
        } catch (InternalError e) {
            throw in.faulted(e);
        }
    }

    private static void run(Slot s, Reading in) throws Exception {
        FileChannel file;
        MappedByteBuffer p;
        try (var phase = s.phase("open")) {
            file = FileChannel.open(in.path, StandardOpenOption.READ);
            p = file.map(FileChannel.MapMode.READ_ONLY, 0, in.bytes);
            p.order(ByteOrder.LITTLE_ENDIAN);
        }
        try (var phase = s.phase("read")) {
            read(in, p);
        }
        in.count();
        in.mappedBytes();
        try (var phase = s.phase("close")) {
            Unmap.unmap(p);
            file.close();
        }
        in.end();
    }

    private static void read(Reading in, MappedByteBuffer p) {
        long steps = in.steps;
        for (long i = 0; i < steps; i++) {
            long offset = in.offset(i);
            in.consume(p, (int) offset, (int) in.length(offset));
        }
    }
}
