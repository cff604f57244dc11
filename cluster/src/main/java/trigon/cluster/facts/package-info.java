/** Facts that a node tells of itself, as records that are written and read as JSON. Immutable. */
@NullMarked
package trigon.cluster.facts;

import org.jspecify.annotations.NullMarked;
