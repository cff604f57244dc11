/**
 * The distribution in containers: a node each, a bridge network for each cable, and what happens to containers and
 * networks while a job runs.
 *
 * <p>Needs a container engine, but no registry, no root and no RDMA device.
 */
@NullMarked
package trigon.integration.containers;

import org.jspecify.annotations.NullMarked;
