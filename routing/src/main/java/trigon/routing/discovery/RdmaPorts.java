package trigon.routing.discovery;

import java.util.ArrayList;
import java.util.List;
import trigon.routing.LeftOut;
import trigon.verbs.DeviceContext;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;

/**
 * Snapshot of the RDMA devices' ports.
 *
 * @param ports of all devices that could be asked
 * @param leftOut the devices that could not, which must not keep the others from being used
 */
public record RdmaPorts(List<RdmaPort> ports, List<LeftOut> leftOut) {

    public RdmaPorts {
        ports = List.copyOf(ports);
        leftOut = List.copyOf(leftOut);
    }

    /** Opens each device, asks it and closes it. */
    public static RdmaPorts snapshot(VerbsProvider provider) {
        List<RdmaPort> ports = new ArrayList<>();
        List<LeftOut> leftOut = new ArrayList<>();
        for (String name : provider.deviceNames()) {
            try (DeviceContext device = provider.open(name)) {
                List<RdmaPort> ofDevice = new ArrayList<>();
                for (int port = 1; port <= device.attributes().portCount(); port++) {
                    device.partitionKeyIndex(port); // refuses a port without one
                    ofDevice.add(new RdmaPort(name, port, device.queryPort(port), device.gidTable(port)));
                }
                ports.addAll(ofDevice);
            } catch (VerbsException e) {
                leftOut.add(new LeftOut(name, LeftOut.Cause.deviceUnusable(String.valueOf(e.getMessage()))));
            }
        }
        return new RdmaPorts(ports, leftOut);
    }
}
