package pagewise;

/** One method: one class in one file, found by its `source` in methods.tsv. A two-sided one has both sides in it. */
public interface Method {
    void run(Slot s) throws Exception;

    /** The other side's part, where a method has two sides. */
    default void runB(Slot s) throws Exception {
        throw new UnsupportedOperationException("this method has one side");
    }
}
