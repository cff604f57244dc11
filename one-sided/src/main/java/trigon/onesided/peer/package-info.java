/** The two directions between this rank and another one. */
@NullMarked
package trigon.onesided.peer;

import org.jspecify.annotations.NullMarked;
