/** All that Trigon says to its users, read from its sources: log lines, error texts and help. Test threads only. */
@NullMarked
package trigon.integration.messages;

import org.jspecify.annotations.NullMarked;
