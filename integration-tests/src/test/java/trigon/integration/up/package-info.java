/** Nodes that ssh and sudo reach, which {@code trigon up} sets up and {@code trigon down} takes back. Needs root. */
@NullMarked
package trigon.integration.up;

import org.jspecify.annotations.NullMarked;
