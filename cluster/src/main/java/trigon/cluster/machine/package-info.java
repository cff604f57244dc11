/** What the kernel says of this machine: NICs, and what is behind them. Reads, and changes nothing. */
@NullMarked
package trigon.cluster.machine;

import org.jspecify.annotations.NullMarked;
