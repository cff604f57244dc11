/** Failover: a session goes on over another path when its own fails. */
@NullMarked
package trigon.transport.failover;

import org.jspecify.annotations.NullMarked;
