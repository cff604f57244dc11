/** The commands report and trace, which show where collectives spend their time. */
@NullMarked
package trigon.tools.report;

import org.jspecify.annotations.NullMarked;
