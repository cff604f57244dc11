/** Output of commands: tables, texts, colours where there is a terminal; and files that users name. */
@NullMarked
package trigon.tools.console;

import org.jspecify.annotations.NullMarked;
