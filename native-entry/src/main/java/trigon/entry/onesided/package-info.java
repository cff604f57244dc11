/** One-sided communication as C calls it. */
@NullMarked
package trigon.entry.onesided;

import org.jspecify.annotations.NullMarked;
