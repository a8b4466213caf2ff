package pagewise.prefault;

import pagewise.Method;
import pagewise.Slot;

/** A virtual machine whose heap is reserved and not touched before its program does. */
public final class JvmStart implements Method {
    @Override
    public void run(Slot s) throws Exception {
        HeapProcess.run(s);
    }
}
