/**
 * The data path in C, as Java drives it: {@code lane/software/functions.h}. A {@link trigon.software.call.NativePair}
 * is a queue pair there; who changes it holds its lock, as who posts, polls or moves does.
 */
@NullMarked
package trigon.software.call;

import org.jspecify.annotations.NullMarked;
