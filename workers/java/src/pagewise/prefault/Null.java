package pagewise.prefault;

import pagewise.Method;
import pagewise.Slot;

/** Every phase with an empty body: the floor below which nothing is resolved in this worker. */
public final class Null implements Method {
    @Override
    public void run(Slot s) {
        s.ops = s.bytes;
        try (var phase = s.phase("populate")) {
        }
        try (var phase = s.phase("pin")) {
        }
        try (var phase = s.phase("first-use")) {
        }
        try (var phase = s.phase("teardown")) {
        }
    }
}
