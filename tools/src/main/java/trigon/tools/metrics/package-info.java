/** The commands jobs, top and metrics: what processes that use Trigon on this machine count. */
@NullMarked
package trigon.tools.metrics;

import org.jspecify.annotations.NullMarked;
