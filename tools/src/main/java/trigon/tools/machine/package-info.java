/** This machine beside its links, for commands: the distribution, processes, and this user's rights. */
@NullMarked
package trigon.tools.machine;

import org.jspecify.annotations.NullMarked;
