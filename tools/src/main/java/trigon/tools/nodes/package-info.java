/** Which nodes a command is about, how it reaches them, and their examination. One thread. */
@NullMarked
package trigon.tools.nodes;

import org.jspecify.annotations.NullMarked;
