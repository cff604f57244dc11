/** What a node says of itself, by names instead of keys of JSON. Immutable. */
@NullMarked
package trigon.cluster.facts;

import org.jspecify.annotations.NullMarked;
