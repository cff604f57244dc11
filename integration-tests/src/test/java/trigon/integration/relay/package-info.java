/** Jobs whose data go through nodes that relay, and the loss of such nodes. */
@NullMarked
package trigon.integration.relay;

import org.jspecify.annotations.NullMarked;
