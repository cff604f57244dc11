/**
 * The half of a queue pair that sends requests and takes the responses: the requester of the InfiniBand specification.
 *
 * <ul>
 *   <li><b>Outstanding</b>: a request that was posted and is not complete.
 *   <li><b>Begun</b>: an outstanding request that has been encoded; some of it may be on the
 *     wire.
 *   <li><b>Injected</b>: a SEND that is complete as soon as the sockets have it ({@link
 *       trigon.verbs.SendFlag#INJECT_COMPLETE}).
 * </ul>
 */
@NullMarked
package trigon.software.requester;

import org.jspecify.annotations.NullMarked;
