package pagewise.read;

import java.io.EOFException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import pagewise.Method;
import pagewise.Slot;

/** FileChannel.read into one direct buffer of `chunk` bytes; in random order at each block's position. */
public final class Channel implements Method {
    @Override
    public void run(Slot s) throws Exception {
        var in = new Reading(s, false);
        ByteBuffer buffer = ByteBuffer.allocateDirect((int) in.stepBytes).order(ByteOrder.LITTLE_ENDIAN);
        in.bufferBytes = in.stepBytes;
        FileChannel file;
        try (var phase = s.phase("open")) {
            file = FileChannel.open(in.path, StandardOpenOption.READ);
        }
        try (var phase = s.phase("read")) {
            read(in, file, buffer);
        }
        in.count();
        try (var phase = s.phase("close")) {
            file.close();
        }
        in.end();
    }

    private static void read(Reading in, FileChannel file, ByteBuffer buffer) throws Exception {
        long steps = in.steps;
        for (long i = 0; i < steps; i++) {
            long offset = in.offset(i);
            int want = (int) in.length(offset);
            buffer.clear().limit(want);
            while (buffer.hasRemaining())
                if (file.read(buffer, offset + buffer.position()) < 0)
                    throw new EOFException("the file ended before its bytes were read: it has become shorter");
            in.consume(buffer, 0, want);
        }
    }
}
