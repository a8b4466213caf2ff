package pagewise;

/**
 * Latency histograms, in the protocol's buckets: exact below 64 ns; above, each power of two is divided into 32 equal ones.
 * Counting is no statistic: the laboratory computes quantiles.
 */
public final class Latencies {
    private static final int EXACT = 64, PER_POWER = 32;

    private Latencies() {
    }

    private static int indexOf(long ns) {
        if (ns < EXACT)
            return (int) ns;
        int power = 63 - Long.numberOfLeadingZeros(ns);
        return EXACT + (power - 6) * PER_POWER + (int) ((ns >>> power - 5) - PER_POWER);
    }

    public static void record(Slot s, long[] ns) {
        long[] counts = new long[EXACT + PER_POWER * 58];
        for (long one : ns)
            counts[indexOf(one)]++;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] == 0)
                continue;
            long low = i, high = i;
            if (i >= EXACT) {
                int power = 6 + (i - EXACT) / PER_POWER;
                low = (long) (PER_POWER + (i - EXACT) % PER_POWER) << power - 5;
                high = low + (1L << power - 5) - 1;
            }
            s.latency(low, high, counts[i]);
        }
    }
}
