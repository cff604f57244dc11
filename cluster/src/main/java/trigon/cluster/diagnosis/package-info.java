/** Findings from what an examination has seen, and what to do about them. Pure: no I/O. */
@NullMarked
package trigon.cluster.diagnosis;

import org.jspecify.annotations.NullMarked;
