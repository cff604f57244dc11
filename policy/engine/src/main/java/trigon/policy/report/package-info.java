/** A process's report on its policy, for other processes to read. */
@NullMarked
package trigon.policy.report;

import org.jspecify.annotations.NullMarked;
