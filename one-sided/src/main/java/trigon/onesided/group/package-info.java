/** The ranks of a communicator, connected all to all. */
@NullMarked
package trigon.onesided.group;

import org.jspecify.annotations.NullMarked;
