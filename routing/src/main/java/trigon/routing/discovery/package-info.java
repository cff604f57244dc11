/**
 * The links of this machine: from the settings, where they list NICs, else from its RDMA ports and interfaces.
 *
 * <p>Pure functions over records, for any thread, except {@link trigon.routing.discovery.HostInterfaces#snapshot} and
 * {@link trigon.routing.discovery.RdmaPorts#snapshot}, which ask the kernel on the thread that calls them.
 */
@NullMarked
package trigon.routing.discovery;

import org.jspecify.annotations.NullMarked;
