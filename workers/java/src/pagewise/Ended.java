package pagewise;

/** Ends a slot early: a skip or a failure. It is an outcome with its reason, not an error of the worker. */
final class Ended extends RuntimeException {
    private static final long serialVersionUID = 1;
    final String line;

    Ended(String line) {
        super(line, null, false, false);
        this.line = line;
    }
}
