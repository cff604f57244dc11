/** The command doctor: what is wrong with the links of some nodes, how one can tell, and what to do. */
@NullMarked
package trigon.tools.doctor;

import org.jspecify.annotations.NullMarked;
