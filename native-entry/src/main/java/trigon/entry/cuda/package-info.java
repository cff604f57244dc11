/** The CUDA driver, for memory of a GPU that the processor cannot reach. */
@NullMarked
package trigon.entry.cuda;

import org.jspecify.annotations.NullMarked;
