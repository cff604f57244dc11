package trigon.software.connection;

import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.software.SoftwareDevice;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;
import trigon.system.RareMessage;

/** Warns of messages that relays have altered. Any thread. */
public final class AlteredMessages {

    private static final Logger log = LoggerFactory.getLogger(AlteredMessages.class);

    /** By the last relay: one hides no other. They are few, since the peers have chosen them. */
    private final Map<InetAddress, RareMessage> warnings = new ConcurrentHashMap<>();

    private final NanoClock clock;

    /** None so far. */
    public AlteredMessages(NanoClock clock) {
        this.clock = clock;
    }

    /**
     * A device has received one. Of the relays only the last is known here: the peer has chosen the route.
     *
     * @param part of the message
     */
    public void warn(SoftwareDevice device, InetAddress sender, InetAddress lastRelay, String part) {
        warnings.computeIfAbsent(lastRelay, _ -> new RareMessage(log, Level.WARN, clock))
                .log(("%s: a message from %s was altered on its way through relays: its %s does not match its checksum."
                                + " NCCL does not get it. This path is closed; the link is up. Check the memory of"
                                + " the relay at %s, or of one before it; set TRIGON_RELAY=off on the faulty one")
                        .formatted(device, InterfaceAddress.text(sender), part, InterfaceAddress.text(lastRelay)));
    }
}
