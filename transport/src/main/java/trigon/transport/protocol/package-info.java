/** How a message gets from an isend to its irecv over the paths of a session. */
@NullMarked
package trigon.transport.protocol;

import org.jspecify.annotations.NullMarked;
