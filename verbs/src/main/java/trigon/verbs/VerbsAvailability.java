package trigon.verbs;

/** Whether a kind of devices can be used on this machine. Absence is a normal state with a reason, not an error. */
public sealed interface VerbsAvailability {

    /** The provider is there; it may still have no device. */
    record Available(VerbsProvider provider) implements VerbsAvailability {}

    /** There is none, for {@code reason}: one line that a user understands. */
    record Unavailable(String reason) implements VerbsAvailability {}
}
