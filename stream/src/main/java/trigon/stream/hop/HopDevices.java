package trigon.stream.hop;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.verbs.VerbsException;

/**
 * The RDMA devices that can carry hops, each opened for its first hop. Nothing of theirs is shared with NCCL's memory:
 * each has a protection domain of its own, and no access from the other side is ever granted. Thread-safe.
 */
public final class HopDevices implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HopDevices.class);

    private final Map<InetAddress, HopPort> ports;
    private final Map<InetAddress, HopDevice> open = new HashMap<>();
    private final RareMessage failures = new RareMessage(log, Level.WARN, NanoClock.SYSTEM);
    private final SlotMemory memory;
    private boolean closed;

    /**
     * Those of these ports.
     *
     * @param mostBytes of memory that all hops together may lock; hops beyond that stay on TCP
     */
    public HopDevices(List<HopPort> ports, long mostBytes) {
        memory = new SlotMemory(mostBytes);
        this.ports = ports.stream().collect(Collectors.toMap(HopPort::address, port -> port, (first, _) -> first));
    }

    /** Returns whether there are none: then all hops of this node stay on TCP. */
    public boolean isEmpty() {
        return ports.isEmpty();
    }

    /** Returns whether one of them is to serve an address of this node. */
    public boolean serves(InetAddress local) {
        return ports.containsKey(local);
    }

    /** The one that serves an address of this node; empty if none does, or it cannot be opened now. May block. */
    synchronized Optional<HopDevice> at(InetAddress local) {
        HopPort port = ports.get(local);
        if (port == null || closed) {
            return Optional.empty();
        }
        HopDevice known = open.get(local);
        if (known != null) {
            return Optional.of(known);
        }
        try {
            HopDevice opened = HopDevice.open(port, memory);
            open.put(local, opened);
            return Optional.of(opened);
        } catch (VerbsException e) {
            onFailure(local, e);
            return Optional.empty();
        }
    }

    /** A hop stays on TCP, for lack of something on its device. */
    void onFailure(InetAddress local, VerbsException why) {
        failures.log("a relayed connection stays on TCP at %s: %s"
                .formatted(InterfaceAddress.text(local), why.getMessage()));
    }

    /** Closes all of them, and what is left open on them. Twice is allowed. */
    @Override
    public synchronized void close() {
        closed = true;
        open.values().forEach(HopDevice::close);
        open.clear();
    }
}
