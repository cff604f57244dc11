/** A queue pair to another node, and a transfer over it that is checked byte by byte. */
@NullMarked
package trigon.cluster.rdma;

import org.jspecify.annotations.NullMarked;
