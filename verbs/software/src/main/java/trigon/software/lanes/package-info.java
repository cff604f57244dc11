/**
 * Long messages over several connections and cores.
 *
 * <ul>
 *   <li><b>Lane</b>: a further TCP connection of a queue pair, one way, on which nothing goes but pieces of SENDs.
 *   <li><b>Lane worker</b>: a thread that sends and receives on the lanes assigned to it, of any queue pairs.
 *   <li><b>Iteration</b>: one pass of a worker over its lanes. Nobody changes them, or takes memory back, within one.
 *   <li><b>Ownership</b> of a lane: the right to send on it, of one worker at a time; its own one's, or that of one
 *       that helps it.
 *   <li><b>Stalled</b>: a lane that brought a piece whose receive is not posted yet; TCP holds its sender back.
 * </ul>
 */
@NullMarked
package trigon.software.lanes;

import org.jspecify.annotations.NullMarked;
