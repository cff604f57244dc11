/** Where a function's instructions lead: who follows whom, who decides about whom, which registers are still needed. */
@NullMarked
package trigon.policy.flow;

import org.jspecify.annotations.NullMarked;
