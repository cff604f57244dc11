/** JSON that commands print and that nodes exchange. Pure. */
@NullMarked
package trigon.cluster.json;

import org.jspecify.annotations.NullMarked;
