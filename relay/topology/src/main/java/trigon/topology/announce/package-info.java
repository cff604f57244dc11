/** The sockets and the thread of the announcements. */
@NullMarked
package trigon.topology.announce;

import org.jspecify.annotations.NullMarked;
