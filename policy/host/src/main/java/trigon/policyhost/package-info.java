/** The policy of this process: where it comes from, and who decides by it. */
@NullMarked
package trigon.policyhost;

import org.jspecify.annotations.NullMarked;
