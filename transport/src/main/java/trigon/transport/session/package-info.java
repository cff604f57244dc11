/** Comms, as NCCL calls them: ordered requests, one way, over one to eight paths. */
@NullMarked
package trigon.transport.session;

import org.jspecify.annotations.NullMarked;
