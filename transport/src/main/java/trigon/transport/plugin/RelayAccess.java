package trigon.transport.plugin;

import trigon.routing.Relays;
import trigon.stream.circuit.Detours;

/**
 * How a plugin uses relays; what is behind it stays the caller's.
 *
 * @param ways which ways through relays there are
 * @param detours what opens TCP connections over them
 */
public record RelayAccess(Relays ways, Detours detours) {

    /** There are no relays. */
    public static final RelayAccess NONE = new RelayAccess(Relays.NONE, Detours.NONE);
}
