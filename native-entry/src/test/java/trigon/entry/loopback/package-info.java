/** A transport for tests of the entry: both ends in one process, messages by copy. */
@NullMarked
package trigon.entry.loopback;

import org.jspecify.annotations.NullMarked;
