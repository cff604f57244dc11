/** The CUDA driver, for memory of a GPU that the processor cannot reach, and for what NICs write there. */
@NullMarked
package trigon.onesided.cuda;

import org.jspecify.annotations.NullMarked;
