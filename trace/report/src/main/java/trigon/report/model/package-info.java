/** Who sent what to whom and when, on one clock; see {@link trigon.report.model.Run}. */
@NullMarked
package trigon.report.model;

import org.jspecify.annotations.NullMarked;
