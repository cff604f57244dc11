/** The sockets and the thread of the announcements. */
@NullMarked
package trigon.relay.topology.announce;

import org.jspecify.annotations.NullMarked;
