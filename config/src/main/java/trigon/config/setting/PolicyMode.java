package trigon.config.setting;

/** What a policy that cannot be had means. */
public enum PolicyMode {
    /** The job goes on without it. */
    OPTIONAL,
    /** Communicators fail. */
    REQUIRED
}
