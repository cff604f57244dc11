/**
 * Preallocated rings: the send and receive work requests of a queue pair, and the completions of a completion queue.
 * Neither side of a ring allocates or takes a lock.
 */
@NullMarked
package trigon.software.queue;

import org.jspecify.annotations.NullMarked;
