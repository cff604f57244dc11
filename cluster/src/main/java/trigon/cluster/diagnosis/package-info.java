/** What is wrong, by what an examination has seen, and what to do about it. Pure: no I/O. */
@NullMarked
package trigon.cluster.diagnosis;

import org.jspecify.annotations.NullMarked;
