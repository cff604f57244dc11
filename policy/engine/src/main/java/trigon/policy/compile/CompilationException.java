package trigon.policy.compile;

/** A verified program that the JVM could not run fast. */
public final class CompilationException extends Exception {

    private static final long serialVersionUID = 1;

    CompilationException(String message) {
        super(message);
    }
}
