/**
 * The carriers of a relayed connection over one hop, the link between two neighbours on its route: a {@link
 * SocketStream}, or a {@link ChunkStream} over a queue pair. Both are a {@link ByteStream}, so hops of both kinds mix.
 *
 * <p>The two sides of a hop agree by a {@link HopUpgrade}, over the TCP connection that they have already. That
 * connection stays: it is the bell that wakes a side that sleeps, and it breaks when the other side's process ends.
 */
@NullMarked
package trigon.stream.hop;

import org.jspecify.annotations.NullMarked;
import trigon.stream.ByteStream;
import trigon.stream.SocketStream;
