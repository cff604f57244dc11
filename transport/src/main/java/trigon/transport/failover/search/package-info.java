/**
 * The search for paths over which a connection's peer answers. A round asks over several; no thread waits for it, and
 * what follows is run by whoever completes its result: the event loop, or the timer on it.
 */
@NullMarked
package trigon.transport.failover.search;

import org.jspecify.annotations.NullMarked;
