package trigon.routing.discovery;

import java.util.List;
import trigon.verbs.GidEntry;
import trigon.verbs.PortAttributes;

/**
 * Snapshot of a port of an RDMA device.
 *
 * @param deviceName for example {@code mlx5_0}
 * @param port from 1
 * @param attributes its state
 * @param gidTable the valid entries of its GID table
 */
public record RdmaPort(String deviceName, int port, PortAttributes attributes, List<GidEntry> gidTable) {

    public RdmaPort {
        gidTable = List.copyOf(gidTable);
    }

    /** The device, and the port's number unless it is the first: {@code mlx5_0}, {@code mlx5_0:2}. */
    public String label() {
        return port == 1 ? deviceName : deviceName + ":" + port;
    }
}
