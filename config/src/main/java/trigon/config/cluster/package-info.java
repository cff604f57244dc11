/**
 * The nodes of the cluster as the file lists them, with their NICs, and the key that they share.
 *
 * <p>Everything here is immutable, and safe for all threads.
 */
@NullMarked
package trigon.config.cluster;

import org.jspecify.annotations.NullMarked;
