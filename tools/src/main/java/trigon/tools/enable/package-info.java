/** The commands {@code trigon enable} and {@code trigon disable}, which write NCCL's files. One thread. */
@NullMarked
package trigon.tools.enable;

import org.jspecify.annotations.NullMarked;
