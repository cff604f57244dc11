/** The flow of a function: successors of its instructions, post-dominators, and registers that are still needed. */
@NullMarked
package trigon.policy.flow;

import org.jspecify.annotations.NullMarked;
