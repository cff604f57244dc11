/** Messages with their ranks and times, on one clock; see {@link trigon.report.model.Run}. */
@NullMarked
package trigon.report.model;

import org.jspecify.annotations.NullMarked;
