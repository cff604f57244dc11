/** The plugin over RDMA devices that need no kernel module. */
@NullMarked
package trigon.integration.rdma;

import org.jspecify.annotations.NullMarked;
