/** Live counters by link and peer, in memory that another process can read. */
@NullMarked
package trigon.transport.metrics;

import org.jspecify.annotations.NullMarked;
