package trigon.policy;

import trigon.policy.verdict.VerificationException;

/** A policy is refused; the one before stays. The cause has the details of its kind. */
public final class PolicyException extends Exception {

    private static final long serialVersionUID = 1;

    /** The step at which a policy was refused. */
    public enum Kind {
        /** {@link trigon.policy.elf.ObjectException}: the file is no object. */
        OBJECT,
        /** {@link trigon.policy.verdict.VerificationException}: a program breaks a rule. */
        VERIFICATION,
        /** {@link trigon.policy.map.MapException}: a map does not fit those that exist. */
        MAP,
        /** {@link trigon.policy.compile.Compiler.CompilationException}: a function is too large. */
        COMPILATION,
        /** Two programs of the same kind. */
        AMBIGUOUS
    }

    private final Kind kind;

    PolicyException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** Refuses for a cause that does not name the object. */
    PolicyException(Kind kind, String object, Exception cause) {
        super(object + ": " + cause.getMessage(), cause);
        this.kind = kind;
    }

    PolicyException(Kind kind, Exception cause) {
        super(cause.getMessage(), cause);
        this.kind = kind;
    }

    /** Says what is wrong and what to do, in one line, for a log. */
    public String summary() {
        return getCause() instanceof VerificationException refused
                ? refused.rejection().summary()
                : String.valueOf(getMessage());
    }

    public Kind kind() {
        return kind;
    }
}
