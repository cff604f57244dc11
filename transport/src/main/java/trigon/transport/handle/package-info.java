/** The opaque numbers that NCCL knows contexts, comms, registrations and requests by. */
@NullMarked
package trigon.transport.handle;

import org.jspecify.annotations.NullMarked;
