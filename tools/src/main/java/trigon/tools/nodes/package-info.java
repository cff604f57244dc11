/** Options that name nodes and the way to reach them, and the examination of these nodes. One thread. */
@NullMarked
package trigon.tools.nodes;

import org.jspecify.annotations.NullMarked;
