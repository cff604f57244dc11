/** Changes of a node's network, and the programs that keep them after a restart. Pure. */
@NullMarked
package trigon.tools.keep;

import org.jspecify.annotations.NullMarked;
