package pagewise.prefault;

import pagewise.Method;
import pagewise.Slot;

/** The same with transparent huge pages. */
public final class JvmPreTouchThp implements Method {
    @Override
    public void run(Slot s) throws Exception {
        HeapProcess.needsHugePages(s);
        HeapProcess.run(s, "-XX:+AlwaysPreTouch", "-XX:+UseTransparentHugePages");
    }
}
