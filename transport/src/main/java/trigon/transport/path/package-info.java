/**
 * Links whose devices are open, and paths over them: a queue pair, its completion queue, and its lifeline to the
 * peer. A path knows nothing of what it carries.
 */
@NullMarked
package trigon.transport.path;

import org.jspecify.annotations.NullMarked;
