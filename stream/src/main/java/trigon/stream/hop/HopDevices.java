package trigon.stream.hop;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.system.Errno;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.verbs.Gid;
import trigon.verbs.VerbsException;

/**
 * The RDMA devices that can carry hops, each opened for its first hop, and again after it has failed. Nothing of theirs
 * is shared with NCCL's memory: each has a protection domain of its own, and no access from the other side is ever
 * granted. Thread-safe.
 */
public final class HopDevices implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HopDevices.class);

    /** A device that was reset is noticed by its first refusal; then the hop takes the one that is opened anew. */
    private static final int ATTEMPTS = 2;

    private final Map<InetAddress, PortDevice> devices;
    private final NanoClock clock;
    private final RareMessage failures = new RareMessage(log, Level.WARN, NanoClock.SYSTEM);

    /**
     * Those of these ports.
     *
     * @param mostBytes of memory that all hops together may lock; hops beyond that stay on TCP
     */
    public HopDevices(List<HopPort> ports, long mostBytes) {
        this(ports, mostBytes, NanoClock.SYSTEM);
    }

    /** The same, with the clock by which a device that has failed is opened again, and a silent one has failed. */
    HopDevices(List<HopPort> ports, long mostBytes, NanoClock clock) {
        this.clock = clock;
        SlotMemory memory = new SlotMemory(mostBytes);
        devices = ports.stream()
                .collect(Collectors.toMap(
                        HopPort::address, port -> new PortDevice(port, memory, clock), (first, _) -> first));
    }

    NanoClock clock() {
        return clock;
    }

    /** Returns whether there are none: then all hops of this node stay on TCP. */
    public boolean isEmpty() {
        return devices.isEmpty();
    }

    /** Returns whether one of them is to serve an address of this node. */
    public boolean serves(InetAddress local) {
        return devices.containsKey(local);
    }

    /**
     * Returns whether a GID can be that of a neighbour of a device's; see {@link HopPort#mayReach}.
     *
     * @param local the address that the device serves
     */
    boolean mayReach(InetAddress local, Gid gid, InetAddress neighbour) {
        PortDevice device = devices.get(local);
        return device != null && device.port().mayReach(gid, neighbour);
    }

    /**
     * Opens a queue pair, in INIT, on the device that serves an address of this node; empty if none does, or it
     * refuses, which is told. May block.
     *
     * @param wanted what is received into; shorter slots where much memory is locked
     */
    Optional<HopQueuePair> openQueuePair(InetAddress local, SlotGeometry wanted, HopUse use) {
        PortDevice port = devices.get(local);
        VerbsException failure = null;
        for (int i = 0; port != null && i < ATTEMPTS; i++) {
            try {
                Optional<HopDevice> device = port.device();
                if (device.isEmpty()) {
                    break;
                }
                return Optional.of(openQueuePair(port, device.get(), wanted, use));
            } catch (VerbsException e) {
                failure = e;
                if (e.errno() == Errno.ENOMEM) {
                    break;
                }
            }
        }
        if (failure != null) {
            onFailure(local, String.valueOf(failure.getMessage()));
        }
        return Optional.empty();
    }

    /** Memory that may not be locked is no failure of the device. */
    private static HopQueuePair openQueuePair(PortDevice port, HopDevice device, SlotGeometry wanted, HopUse use) {
        try {
            HopQueuePair opened = device.openQueuePair(wanted, use);
            port.succeed();
            return opened;
        } catch (VerbsException e) {
            if (e.errno() != Errno.ENOMEM) {
                port.fail(device);
            }
            throw e;
        }
    }

    /** A hop stays on TCP. */
    void onFailure(InetAddress local, String why) {
        failures.log("a relayed connection stays on TCP at %s: %s".formatted(InterfaceAddress.text(local), why));
    }

    /** Closes all of them, and what is left open on them. Twice is allowed. */
    @Override
    public void close() {
        devices.values().forEach(PortDevice::close);
    }
}
