/** Registered memory, which C finds by its keys. */
@NullMarked
package trigon.software.memory;

import org.jspecify.annotations.NullMarked;
