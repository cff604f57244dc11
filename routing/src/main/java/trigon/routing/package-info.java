/**
 * Local links by the peers that they reach: here is what a link, a path and the reason for it are.
 *
 * <p>{@link trigon.routing.discovery.LinkDiscovery} turns the settings and a snapshot of the machine into links;
 * {@link trigon.routing.table.RoutingTable} turns links and what a peer advertises into an ordered list of paths to
 * try. All of it is pure functions over records, for any thread, except {@link trigon.routing.KernelRouteLookup} and
 * the snapshots of {@code discovery}, which ask the kernel. Nothing is kept open: what a process would use can be told
 * without using it.
 */
@NullMarked
package trigon.routing;

import org.jspecify.annotations.NullMarked;
