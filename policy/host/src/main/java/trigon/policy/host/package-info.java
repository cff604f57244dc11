/** The policy of this process: where it comes from, and who decides by it. */
@NullMarked
package trigon.policy.host;

import org.jspecify.annotations.NullMarked;
