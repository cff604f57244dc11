/** The report as a program of its own. */
@NullMarked
package trigon.report.command;

import org.jspecify.annotations.NullMarked;
