package trigon.relay.topology;

/** A reason for which a neighbour's announcements cannot be taken, and that a person can remove. */
public enum Incompatibility {
    /** Another cluster key than this node's signs them, or none. */
    OTHER_KEY,
    /** A cluster key signs them, and this process has none. */
    NO_KEY_HERE,
    /** Another version of Trigon wrote them. */
    OTHER_VERSION
}
