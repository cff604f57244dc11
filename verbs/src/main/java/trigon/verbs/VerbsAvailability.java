package trigon.verbs;

/** The availability of a kind of devices on this machine. Absence is a normal state with a reason, not an error. */
public sealed interface VerbsAvailability {

    /** The provider is there; it may still have no device. */
    record Available(VerbsProvider provider) implements VerbsAvailability {}

    /** There is none, for {@code reason}: one line that a user understands. */
    record Unavailable(String reason) implements VerbsAvailability {}
}
