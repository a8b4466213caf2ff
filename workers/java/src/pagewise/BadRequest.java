package pagewise;

/** The request cannot be run: one sentence on standard error, exit status 2. */
final class BadRequest extends RuntimeException {
    private static final long serialVersionUID = 1;

    BadRequest(int line, String message) {
        super("request line " + line + ": " + message, null, false, false);
    }
}
