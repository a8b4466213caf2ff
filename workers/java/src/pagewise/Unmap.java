package pagewise;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;

/** Java has no call that unmaps a MappedByteBuffer; this is the one that the JDK leaves open for it. */
public final class Unmap {
    private static final MethodHandle CLEANER = cleaner();

    private Unmap() {
    }

    private static MethodHandle cleaner() {
        try {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            var field = type.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return MethodHandles.lookup()
                .findVirtual(type, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
                .bindTo(field.get(null));
        } catch (ReflectiveOperationException e) {
            return null;
        }
    }

    /** Before the clock: skips the cell where this JDK leaves no way open. */
    public static void need(Slot s) {
        if (CLEANER == null)
            throw s.skip("this JDK leaves no way open to unmap a buffer; use an older one, or memory-segment");
    }

    public static void unmap(ByteBuffer buffer) throws IOException {
        try {
            CLEANER.invoke(buffer);
        } catch (Throwable e) {
            throw new IOException("unmap: " + e.getMessage(), e);
        }
    }
}
