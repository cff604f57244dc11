/** Puts the relay, the topology and the search for a route together, for a process. */
@NullMarked
package trigon.relay.mesh;

import org.jspecify.annotations.NullMarked;
