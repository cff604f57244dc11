package trigon.transport.failure;

import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.InterfaceAddress;
import trigon.routing.HostInterface;
import trigon.routing.HostInterfaces;
import trigon.routing.LocalLink;
import trigon.routing.kernel.InterfaceEvent;
import trigon.transport.path.Link;
import trigon.transport.path.Links;

/**
 * Which of this node's links the kernel takes for up: their interface is, has a carrier, and has their address. Used by
 * one thread.
 */
final class LinkStates {

    private static final Logger log = LoggerFactory.getLogger(LinkStates.class);

    private final Links links;
    private final Set<Integer> notRunning = new HashSet<>();
    private final Set<InetAddress> missing = new HashSet<>();

    /** All are up, as far as is known. */
    LinkStates(Links links) {
        this.links = links;
    }

    /** Asks how they are. */
    void lookAtAll() {
        HostInterfaces all = HostInterfaces.snapshot();
        notRunning.clear();
        missing.clear();
        for (Link link : links.all()) {
            LocalLink local = link.local();
            InetAddress address = local.address().address();
            Optional<HostInterface> owner = all.withAddress(address);
            if (owner.isEmpty()) {
                missing.add(address);
            }
            if (!all.withIndex(local.interfaceIndex()).map(HostInterface::up).orElse(local.interfaceIndex() == 0)) {
                notRunning.add(local.interfaceIndex());
            }
        }
        apply();
    }

    /** The kernel has said something. */
    void take(List<InterfaceEvent> events) {
        for (InterfaceEvent event : events) {
            switch (event) {
                case InterfaceEvent.State(int index, boolean running) -> {
                    if (running) {
                        notRunning.remove(index);
                    } else {
                        notRunning.add(index);
                    }
                }
                case InterfaceEvent.Address(int _, InetAddress address, boolean present) -> {
                    if (present) {
                        missing.remove(address);
                    } else {
                        missing.add(address);
                    }
                }
                case InterfaceEvent.Missed _ -> lookAtAll();
            }
        }
        apply();
    }

    private void apply() {
        for (Link link : links.all()) {
            LocalLink local = link.local();
            InterfaceAddress address = local.address();
            boolean running = !notRunning.contains(local.interfaceIndex());
            boolean up = running && !missing.contains(address.address());
            if (up == link.isUp()) {
                continue;
            }
            link.setUp(up);
            if (up) {
                log.info("{}: its interface {} is up again", link, local.interfaceName());
            } else {
                link.paths().forEach(path -> path.keeper().doubts());
                log.warn(
                        "{}: {}; its connections wait until handshake.peerTimeout is over; check the cable, and ip addr"
                                + " show {}",
                        link,
                        running ? "the address is gone" : "its interface is down, or has no carrier",
                        local.interfaceName());
            }
        }
    }
}
