package trigon.config.setting;

/** Meaning of a policy that cannot be had. */
public enum PolicyMode {
    /** The job goes on without it. */
    OPTIONAL,
    /** Communicators fail. */
    REQUIRED
}
