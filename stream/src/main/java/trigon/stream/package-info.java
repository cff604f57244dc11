/**
 * A connected stream of bytes: {@link trigon.stream.ByteStream}, {@link trigon.stream.SocketStream} over a TCP
 * connection, the options of such connections, and what is said on a fresh one: {@link trigon.stream.Conversation}.
 *
 * <p>Packages, each of which depends on those below it alone:
 *
 * <pre>
 * dial         how a stream to a peer is opened, straight or through relays
 * hop          streams over a queue pair, for one hop of a circuit
 * circuit      what is said to open a circuit through relays
 * loop         the thread that looks after sockets
 * (this one)   streams
 * </pre>
 */
@NullMarked
package trigon.stream;

import org.jspecify.annotations.NullMarked;
