/** Which routes through relays the connections between nodes take: pure, and the same on all nodes. Any thread. */
@NullMarked
package trigon.relay.table;

import org.jspecify.annotations.NullMarked;
