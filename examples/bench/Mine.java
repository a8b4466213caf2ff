// Two ways to fill a list: pagewise bench Mine.java
import java.util.ArrayList;

@pagewise.Param("elements=1000,100000")
class Mine {
    @pagewise.Baseline
    static long grow(pagewise.Run run) {
        long n = run.value("elements");
        var all = new ArrayList<Long>();
        try (var phase = run.phase("fill")) {
            for (long i = 0; i < n; i++)
                all.add(i);
        }
        return all.size();
    }

    @pagewise.Bench
    static long reserve(pagewise.Run run) {
        long n = run.value("elements");
        ArrayList<Long> all;
        try (var phase = run.phase("fill")) {
            all = new ArrayList<>((int) n);
            for (long i = 0; i < n; i++)
                all.add(i);
        }
        return all.size();
    }
}
