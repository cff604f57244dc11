/** NCCL's tuner: its calls as they come from C, and the policy that answers them. */
@NullMarked
package trigon.entry.tuner;

import org.jspecify.annotations.NullMarked;
