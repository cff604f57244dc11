/** The program: its commands, its help, its exit codes. */
@NullMarked
package trigon.tools;

import org.jspecify.annotations.NullMarked;
