/** Which nodes, links and neighbours there are, from what processes announce; no I/O. */
@NullMarked
package trigon.relay.topology;

import org.jspecify.annotations.NullMarked;
