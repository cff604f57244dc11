/** {@code trigon policy}: looks at policies and at the processes that have one, and changes them while they run. */
@NullMarked
package trigon.policy.commands;

import org.jspecify.annotations.NullMarked;
