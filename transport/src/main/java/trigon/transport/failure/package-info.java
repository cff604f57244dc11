/** Consequences of the failure of a path, a device or a session. */
@NullMarked
package trigon.transport.failure;

import org.jspecify.annotations.NullMarked;
