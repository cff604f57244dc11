package trigon.software.connection;

import java.net.InetAddress;
import trigon.software.SoftwareDevice;
import trigon.stream.dial.Dialer;
import trigon.stream.loop.EventLoop;
import trigon.system.PortRange;

/**
 * The open device, as far as its connections need to know it.
 *
 * @param settings what it stands for
 * @param eventLoop the provider's
 * @param ports that it may listen on
 * @param dialer opens its connections
 * @param checks one in so many long payloads that go through relays is checked; 0: nothing is
 * @param altered warns of what a check has found
 */
public record LocalDevice(
        SoftwareDevice settings,
        EventLoop eventLoop,
        PortRange ports,
        Dialer dialer,
        int checks,
        AlteredMessages altered) {

    /** As in logs and verbs. */
    public String name() {
        return settings.name();
    }

    public InetAddress address() {
        return settings.address();
    }
}
