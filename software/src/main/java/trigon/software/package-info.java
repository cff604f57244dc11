/**
 * The software devices: {@link trigon.software.SoftwareDevice} and {@link trigon.software.MoverSettings}.
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
 * connection   TCP connections without blocking: the movers, how a connection is opened and ended
 * memory       registered memory
 * call         the data path in C, which moves the data
 * wire         what two devices say to each other
 * (this one)   settings
 * </pre>
 *
 * <p>There are no READs and no atomics: a work request for one gets EOPNOTSUPP, and a peer's is refused.
 *
 * <p>Threads: data are moved by whoever posts and polls, in C, under the lock of the queue pair; on the data path
 * nobody waits for that lock, a thread that fails to take it leaves the work to its holder. Where there are
 * processors to spare, movers ({@code trigon-move-0} and so on, threads of C) do the work of queue pairs that have
 * long messages under way. The provider's event loop ({@code trigon-software}) accepts and opens connections, keeps
 * the time, and does the work of queue pairs that nobody polls for long. Neither of them looks for work: they sleep
 * until the kernel has some.
 *
 * <p>Who reads when nobody polls: for {@code ProgressLock.POLLED_MILLIS} nobody does, and the sender's messages wait in
 * the sockets, where they are complete for it if that is all it asked for. Then the event loop receives what has a
 * receive, writes what may be written, and answers.
 *
 * <p>Locks, in the order in which they may be taken: a queue pair's lock; then the event loop's monitors. A device
 * context's monitor guards the tables of what is open, and is never held together with a queue pair's lock.
 *
 * <p>What C cannot decide, it asks Java to look at ({@code trigon.software.call.Attention}): the event loop does, or
 * who takes the lock first.
 *
 * <p>Closing a memory region takes it out of the tables, and then takes each queue pair's lock once; from then on
 * nothing reads or writes that memory. Closing a queue pair does the same for itself.
 */
@NullMarked
package trigon.software;

import org.jspecify.annotations.NullMarked;
