/** Rows and a sentence: what a run comes to; see {@link trigon.report.summary.Report}. */
@NullMarked
package trigon.report.summary;

import org.jspecify.annotations.NullMarked;
