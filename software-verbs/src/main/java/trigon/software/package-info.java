/**
 * The software device: {@link trigon.verbs} served over TCP, for links without RDMA NICs.
 *
 * <p>{@link trigon.software.SoftwareVerbs} is the entry. Each {@link trigon.software.SoftwareDevice} stands for one
 * local IP address; an open device listens on that address, and its TCP port is what the verbs call the LID. A queue
 * pair sends its requests over one TCP connection of its own, on which the answers come back; the peer's requests come
 * over another, which the peer opened.
 *
 * <p>Threads: data are moved by whoever posts and polls, under the lock of the queue pair; on the data path nobody waits
 * for that lock, who does not get it leaves the work to who has it. The provider's {@link trigon.software.Attendant}
 * ({@code trigon-software}) accepts and opens connections, keeps the time, and does the work of queue pairs that nobody
 * polls. Where there are cores to spare, {@link trigon.software.LaneWorker}s ({@code trigon-lane-0} and so on) move the
 * pieces of long messages on connections of their own, the lanes, in turns. A lane has a worker; who sends on it, that one or
 * one that helps, has its {@link trigon.software.Claim}.
 *
 * <p>Locks, in the order in which they may be taken: a queue pair's lock; then the monitor of {@link
 * trigon.software.LaneWorkers}; then a lane worker's turn, or the attendant's monitors; last a lane's claim. A device context's monitor guards the tables of what is open, and is never held together with a queue pair's
 * lock. A worker or the attendant that has something to say to a queue pair holds nothing else meanwhile.
 *
 * <p>Closing a memory region takes it out of the tables, and then takes each queue pair's lock and each worker's turn once;
 * from then on nothing reads or writes that memory. Closing a queue pair does the same for itself and its lanes.
 */
@NullMarked
package trigon.software;

import org.jspecify.annotations.NullMarked;
