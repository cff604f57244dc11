/** What commands know of this machine beside its links: the distribution, processes, and this user's rights. */
@NullMarked
package trigon.tools.machine;

import org.jspecify.annotations.NullMarked;
