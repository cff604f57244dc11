/** From folders to the records of processes; what cannot be read is said and left out. */
@NullMarked
package trigon.report.read;

import org.jspecify.annotations.NullMarked;
