/** How commands write: tables, JSON, colours where there is a terminal. */
@NullMarked
package trigon.tools.console;

import org.jspecify.annotations.NullMarked;
