package pagewise.prefault;

import pagewise.Method;
import pagewise.Slot;

/** A virtual machine that touches each page of its heap before its main(). */
public final class JvmPreTouch implements Method {
    @Override
    public void run(Slot s) throws Exception {
        HeapProcess.run(s, "-XX:+AlwaysPreTouch");
    }
}
