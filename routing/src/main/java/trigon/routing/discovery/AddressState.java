package trigon.routing.discovery;

import java.util.Locale;

/** State of an IPv6 address, if it is not an ordinary one; its text is for the user. */
public enum AddressState {
    /** Another machine has the address. */
    FAILED("another machine on this link has it, so the kernel does not use it (dadfailed); remove it here or there"),

    /** The kernel still asks whether another machine has the address: a second or two, once there is a carrier. */
    TENTATIVE("the kernel still checks that no other machine has it (tentative); it is used once that is over"),

    /** The kernel prefers any other address for new connections. */
    DEPRECATED("its preferred lifetime is over (deprecated), so it is used last");

    private final String words;

    AddressState(String words) {
        this.words = words;
    }

    /** The state alone, for a table. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public String toString() {
        return words;
    }
}
