/**
 * The machine, as every module uses it: the time, behind an interface that tests implement, native memory by
 * address, errno values, and IP addresses as interfaces have them. Thread-safe.
 */
@NullMarked
package trigon.system;

import org.jspecify.annotations.NullMarked;
