package trigon.transport.plugin;

import trigon.routing.Relays;
import trigon.stream.dial.Dialer;

/**
 * A plugin's access to relays; what is behind it stays the caller's.
 *
 * @param ways which ways through relays there are
 * @param dialer what opens streams over them
 */
public record RelayAccess(Relays ways, Dialer dialer) {

    /** There are no relays. */
    public static final RelayAccess NONE = new RelayAccess(Relays.NONE, Dialer.DIRECT);
}
