/**
 * Which local link reaches which peer.
 *
 * <p>{@link trigon.routing.LinkDiscovery} turns the settings and a snapshot of the machine into links;
 * {@link trigon.routing.RoutingTable} turns links and what a peer advertises into an ordered list of paths to try. All
 * of it is pure functions over records, except {@link trigon.routing.HostInterfaces#snapshot}, {@link
 * trigon.routing.RdmaPorts#snapshot} and {@link trigon.routing.KernelRouteLookup}, which ask the kernel. Nothing is
 * kept open: what a process would use can be told without using it.
 */
@NullMarked
package trigon.routing;

import org.jspecify.annotations.NullMarked;
