/** Trigon as its users run it: the distribution, loaded through NCCL's plugin ABI by child processes. */
@NullMarked
package trigon.integration;

import org.jspecify.annotations.NullMarked;
