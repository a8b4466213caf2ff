package pagewise.share;

import pagewise.Method;
import pagewise.Slot;

/** Every phase with an empty body: the floor below which nothing is resolved in this worker. */
public final class Null implements Method {
    @Override
    public void run(Slot s) {
        try (var phase = s.phase("map")) {
        }
        s.ops = s.bytes / s.pageBytes;
        try (var phase = s.phase("first-touch")) {
        }
        s.ops = s.size("ops");
        try (var phase = s.phase("random-write")) {
        }
        try (var phase = s.phase("index-only")) {
        }
        s.ops = s.size("clear_bytes") / s.bytes;
        try (var phase = s.phase("clear")) {
        }
        s.ops = s.size("ops");
        try (var phase = s.phase("random-read")) {
        }
        s.ops = 1;
        try (var phase = s.phase("unmap")) {
        }
    }
}
