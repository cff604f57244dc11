package trigon.policy.verdict;

/** A program is refused. */
public final class VerificationException extends Exception {

    private static final long serialVersionUID = 1;

    private final transient Rejection rejection;

    public VerificationException(Rejection rejection) {
        super(rejection.toString());
        this.rejection = rejection;
    }

    public Rejection rejection() {
        return rejection;
    }
}
