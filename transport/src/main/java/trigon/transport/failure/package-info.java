/** What follows when a path, a device or a session has failed. */
@NullMarked
package trigon.transport.failure;

import org.jspecify.annotations.NullMarked;
