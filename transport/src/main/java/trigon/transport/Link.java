package trigon.transport;

import trigon.routing.LocalLink;
import trigon.verbs.DeviceContext;
import trigon.verbs.PortAttributes;
import trigon.verbs.ProtectionDomain;

/**
 * A local link whose device is open. Shared by all connections over it; lives until the plugin is closed.
 *
 * @param local what routing knows of it
 * @param device its open device, which other links of the same device share
 * @param protectionDomain the domain of all its queue pairs and memory, shared likewise
 * @param port the port's attributes when it was opened
 * @param traffic what went over it
 */
record Link(
        LocalLink local, DeviceContext device, ProtectionDomain protectionDomain, PortAttributes port, Traffic traffic) {

    @Override
    public String toString() {
        return local.toString();
    }
}
