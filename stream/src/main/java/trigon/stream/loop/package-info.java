/** A thread that looks after sockets: what is ready, what is due, and what nobody else moves. */
@NullMarked
package trigon.stream.loop;

import org.jspecify.annotations.NullMarked;
