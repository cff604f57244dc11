/** The agreement of the plugin, and of the host program that plays NCCL, with NCCL itself. */
@NullMarked
package trigon.integration.nccl;

import org.jspecify.annotations.NullMarked;
