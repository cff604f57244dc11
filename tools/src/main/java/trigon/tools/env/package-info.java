/** The command env: the exports with which NCCL uses Trigon, and what contradicts them. */
@NullMarked
package trigon.tools.env;

import org.jspecify.annotations.NullMarked;
