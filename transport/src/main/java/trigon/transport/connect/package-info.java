/** The coming up of a session's paths: at the side that connects, and at the side that accepts. */
@NullMarked
package trigon.transport.connect;

import org.jspecify.annotations.NullMarked;
