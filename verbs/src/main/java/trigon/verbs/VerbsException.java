package trigon.verbs;

import trigon.system.Errno;

/** A verb of the control path failed. The message says which, on which object, why, and what to do. */
public final class VerbsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int errno;

    /**
     * A failed verb.
     *
     * @param verb name of the C function, for example {@code ibv_reg_mr}
     * @param object what it was called on, for example {@code mlx5_0 (1 GiB at 0x7f..)}
     * @param errno why; see {@link Errno}
     * @param advice what to do about it; empty if there is nothing to say
     */
    public VerbsException(String verb, String object, int errno, String advice) {
        super("%s failed on %s: %s%s"
                .formatted(verb, object, Errno.name(errno), advice.isEmpty() ? "" : "; " + advice));
        this.errno = errno;
    }

    /** Why it failed; see {@link Errno}. */
    public int errno() {
        return errno;
    }
}
