/** This machine as its kernel describes it: NICs, and what is behind them. Reads, and changes nothing. */
@NullMarked
package trigon.cluster.machine;

import org.jspecify.annotations.NullMarked;
