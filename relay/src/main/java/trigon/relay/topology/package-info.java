/** Nodes, links and neighbours, from what processes announce; no I/O. */
@NullMarked
package trigon.relay.topology;

import org.jspecify.annotations.NullMarked;
