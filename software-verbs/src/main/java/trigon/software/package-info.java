/**
 * The software device: {@link trigon.verbs} served over TCP, for links without RDMA NICs.
 *
 * <p>{@link trigon.software.SoftwareVerbs} is the entry. Each {@link trigon.software.SoftwareDevice} stands for one
 * local IP address; an open device listens on that address, and its TCP port is what the verbs call the LID. A queue
 * pair sends its requests over one TCP connection of its own, on which the answers come back; the peer's requests come
 * over another, which the peer opened.
 *
 * <p>Threads: the event loops of a provider ({@code trigon-software-0} and so on) are the only ones that touch registered
 * memory. Each queue pair, with both of its connections, belongs to one of them; the first is also the control thread,
 * which owns the listeners and changes the tables of what is open. Posting and polling threads talk to an event loop
 * through rings of primitives; everything else runs as a task on it, and its caller waits. An event loop never waits for
 * another one. Closing a memory region first takes it out of the tables and then waits until each event loop has come
 * round once; from then on nothing reads or writes that memory.
 */
@NullMarked
package trigon.software;

import org.jspecify.annotations.NullMarked;
