/**
 * What a software device stands for: {@link trigon.software.SoftwareDevice} and {@link trigon.software.LaneSettings}.
 *
 * <p>A software device is {@link trigon.verbs} served over TCP, for links without RDMA NICs. It stands for one local IP
 * address; an open device listens on that address, and its TCP port is what the verbs call the LID. A queue pair sends
 * its requests over one TCP connection of its own, on which the answers come back; the peer's requests come over
 * another, which the peer opened. The way in is {@code trigon.software.device}, where {@code SoftwareVerbs} is.
 *
 * <p>Packages, each of which depends on those below it alone:
 *
 * <pre>
 * device       the verbs: provider, open devices, queue pairs, completion queues
 * requester,   the two halves
 * responder    of a queue pair
 * lanes        further connections, and worker threads, for long messages
 * connection   TCP connections without blocking: the event loop, streams, how a connection is opened
 * queue        rings of work requests and completions
 * memory       registered memory
 * wire         what two devices say to each other
 * (this one)   settings
 * </pre>
 *
 * <p>Threads: data are moved by whoever posts and polls, under the lock of the queue pair; on the data path nobody
 * waits for that lock, who does not get it leaves the work to who has it. The provider's event loop ({@code
 * trigon-software}) accepts and opens connections, keeps the time, and does the work of queue pairs that nobody polls.
 * Where there are cores to spare, lane workers ({@code trigon-lane-0} and so on) move the pieces of long messages on
 * the lanes. A lane belongs to one worker; who sends on it, that one or one that helps, owns it meanwhile.
 *
 * <p>Locks, in the order in which they may be taken: a queue pair's lock; then the monitor of the lane workers; then a
 * lane worker's iteration, or the event loop's monitors; last a lane's ownership. A device context's monitor guards the
 * tables of what is open, and is never held together with a queue pair's lock. A worker or the event loop that has
 * something to say to a queue pair holds nothing else meanwhile.
 *
 * <p>Closing a memory region takes it out of the tables, and then waits for each queue pair's lock and for the end of
 * each worker's iteration once; from then on nothing reads or writes that memory. Closing a queue pair does the same
 * for itself and its lanes.
 */
@NullMarked
package trigon.software;

import org.jspecify.annotations.NullMarked;
