package trigon.software.connection;

import java.net.InetAddress;
import trigon.software.CircuitChecks;
import trigon.software.SoftwareDevice;
import trigon.stream.circuit.Detours;
import trigon.stream.hop.HopDevices;

/**
 * What connections need to know of the open device that they belong to.
 *
 * @param settings what it stands for
 * @param eventLoop the provider's
 * @param detours which of its connections go through relays
 * @param hops what may carry these faster than TCP
 * @param checks what is checked of what goes through relays
 * @param altered warns of what a check has found
 */
public record LocalDevice(
        SoftwareDevice settings,
        EventLoop eventLoop,
        Detours detours,
        HopDevices hops,
        CircuitChecks checks,
        AlteredMessages altered) {

    /** As in logs and verbs. */
    public String name() {
        return settings.name();
    }

    /** Where its connections end. */
    public InetAddress address() {
        return settings.address();
    }
}
