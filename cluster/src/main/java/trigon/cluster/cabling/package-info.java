/** Addresses and cables of all nodes, as an examination has seen them. Pure; one thread. */
@NullMarked
package trigon.cluster.cabling;

import org.jspecify.annotations.NullMarked;
