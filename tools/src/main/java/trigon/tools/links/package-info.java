/** The command links. */
@NullMarked
package trigon.tools.links;

import org.jspecify.annotations.NullMarked;
