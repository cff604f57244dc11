/** The base of the commands. */
@NullMarked
package trigon.tools.command;

import org.jspecify.annotations.NullMarked;
