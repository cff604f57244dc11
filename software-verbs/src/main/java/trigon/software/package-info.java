/**
 * The software device: {@link trigon.verbs} served over TCP, for links without RDMA NICs.
 *
 * <p>{@link trigon.software.SoftwareVerbs} is the entry. Each {@link trigon.software.SoftwareDevice} stands for one
 * local IP address; an open device listens on that address, and its TCP port is what the verbs call the LID. A queue
 * pair sends its requests over one TCP connection of its own, on which the answers come back; the peer's requests come
 * over another, which the peer opened.
 *
 * <p>Threads: one event loop thread per provider ({@code trigon-software-0}) owns all connections, keys and queue pair
 * states and is the only one that touches registered memory. Posting and polling threads talk to it through rings of
 * primitives; everything else runs as a task on it, and its caller waits. So once the task that closes a memory region
 * has run, nothing reads or writes that memory any more.
 */
@NullMarked
package trigon.software;

import org.jspecify.annotations.NullMarked;
