/** Windows, and memory that only a GPU's driver can reach. */
@NullMarked
package trigon.onesided.memory;

import org.jspecify.annotations.NullMarked;
