/** NCCL's one-sided calls, whichever of its tables they come through. */
@NullMarked
package trigon.onesided;

import org.jspecify.annotations.NullMarked;
