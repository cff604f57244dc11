/** How the paths of a session come up: at the side that connects, and at the side that accepts. */
@NullMarked
package trigon.transport.connect;

import org.jspecify.annotations.NullMarked;
