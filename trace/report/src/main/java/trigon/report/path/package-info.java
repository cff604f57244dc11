/** What the time of a collective went to; see {@link trigon.report.path.CriticalPath}. */
@NullMarked
package trigon.report.path;

import org.jspecify.annotations.NullMarked;
