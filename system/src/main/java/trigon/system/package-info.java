/** What every module takes from the machine, behind interfaces that tests implement. Thread-safe. */
@NullMarked
package trigon.system;

import org.jspecify.annotations.NullMarked;
