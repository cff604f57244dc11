/**
 * The commands up and down: cabled nodes get addresses, a key and NCCL's settings, or are as before. One thread runs a
 * command; what the nodes do at the same time is done by one thread for each.
 */
@NullMarked
package trigon.tools.up;

import org.jspecify.annotations.NullMarked;
