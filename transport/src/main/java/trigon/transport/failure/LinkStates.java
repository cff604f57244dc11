package trigon.transport.failure;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.LocalLink;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.InterfaceEvent;
import trigon.transport.path.Link;
import trigon.transport.path.Links;

/**
 * States of this node's links in the kernel. A link is up if its interface is, has a carrier, and has its address. Used
 * by one thread.
 */
final class LinkStates {

    private static final Logger log = LoggerFactory.getLogger(LinkStates.class);

    private final Links links;
    private final Runnable newLinks;
    private final Set<Integer> notRunning = new HashSet<>();
    private final Set<InetAddress> missing = new HashSet<>();

    /** The interfaces that have the addresses: one that was plugged in again has another index. */
    private final Map<InetAddress, Integer> owners = new HashMap<>();

    /**
     * All are up, as far as is known.
     *
     * @param newLinks runs when there may be more links than before
     */
    LinkStates(Links links, Runnable newLinks) {
        this.links = links;
        this.newLinks = newLinks;
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
            owner.ifPresent(found -> owners.put(address, found.index()));
            int index = indexOf(local);
            if (!all.withIndex(index).map(HostInterface::up).orElse(index == 0)) {
                notRunning.add(index);
            }
        }
        apply();
        newLinks.run();
    }

    /** The kernel has said something. */
    void take(List<InterfaceEvent> events) {
        boolean come = false;
        for (InterfaceEvent event : events) {
            switch (event) {
                case InterfaceEvent.State(int index, boolean running) -> {
                    if (running) {
                        notRunning.remove(index);
                        come |= links.all().stream().noneMatch(link -> indexOf(link.local()) == index);
                    } else {
                        notRunning.add(index);
                    }
                }
                case InterfaceEvent.Address(int index, InetAddress address, boolean present) -> {
                    if (present) {
                        missing.remove(address);
                        owners.put(address, index);
                        come |= !links.addresses().contains(address);
                    } else {
                        missing.add(address);
                    }
                }
                case InterfaceEvent.Missed _ -> lookAtAll();
            }
        }
        apply();
        if (come) {
            newLinks.run();
        }
    }

    private int indexOf(LocalLink link) {
        return owners.getOrDefault(link.address().address(), link.interfaceIndex());
    }

    private void apply() {
        for (Link link : links.all()) {
            LocalLink local = link.local();
            InterfaceAddress address = local.address();
            boolean running = !notRunning.contains(indexOf(local));
            boolean up = running && !missing.contains(address.address());
            if (up == link.isInterfaceUp()) {
                continue;
            }
            link.setInterfaceUp(up);
            if (up) {
                log.info("{}: its interface {} is up again", link, local.interfaceName());
            } else {
                link.paths().forEach(path -> path.keeper().suspect());
                log.warn(
                        "{}: {}; its connections wait until handshake.peerTimeout; check the cable, and ip addr"
                                + " show {}",
                        link,
                        running ? "the address is gone" : "its interface is down, or has no carrier",
                        local.interfaceName());
            }
        }
    }
}
