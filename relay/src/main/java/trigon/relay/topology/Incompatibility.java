package trigon.relay.topology;

/** A reason for which a neighbour's announcements cannot be taken, and that a person can remove. */
public enum Incompatibility {
    /** Another cluster key signs them, or none. */
    OTHER_KEY,
    /** Another version of Trigon wrote them. */
    OTHER_VERSION
}
