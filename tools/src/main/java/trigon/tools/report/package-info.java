/** Where the time of collectives went: traces are recorded, and reported. */
@NullMarked
package trigon.tools.report;

import org.jspecify.annotations.NullMarked;
