package pagewise.message;

import pagewise.Method;
import pagewise.Slot;

/** Both phases with an empty body: the floor below which nothing is resolved in this worker. */
public final class Null implements Method {
    @Override
    public void run(Slot s) {
        s.ops = s.size("ops");
        try (var phase = s.phase("round-trips")) {
        }
        try (var phase = s.phase("timed-trips")) {
        }
    }

    @Override
    public void runB(Slot s) {
        run(s);
    }
}
