/**
 * The paths to a peer: from the links of both ends and the kernel's routes, in the order in which to try them.
 *
 * <p>Pure functions over records, for any thread; {@link trigon.routing.table.RoutingTable} asks the route lookup on
 * the thread that calls it. Control path only.
 */
@NullMarked
package trigon.routing.table;

import org.jspecify.annotations.NullMarked;
