/** The command env: the exports with which NCCL uses Trigon, and what contradicts them; and its like. */
@NullMarked
package trigon.tools.env;

import org.jspecify.annotations.NullMarked;
