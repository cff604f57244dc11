/** The command {@code links}: what this machine would use, and what not and why, without a job. One thread. */
@NullMarked
package trigon.tools.links;

import org.jspecify.annotations.NullMarked;
