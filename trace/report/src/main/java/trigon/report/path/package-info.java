/** The causes of a collective's time; see {@link trigon.report.path.CriticalPath}. */
@NullMarked
package trigon.report.path;

import org.jspecify.annotations.NullMarked;
