/** What a node says of itself, by names instead of keys of JSON. Immutable. */
@NullMarked
package trigon.tools.facts;

import org.jspecify.annotations.NullMarked;
