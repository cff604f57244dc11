/** The CUDA driver, for memory of a GPU that the processor cannot reach. */
@NullMarked
package trigon.onesided.cuda;

import org.jspecify.annotations.NullMarked;
