/** What a communicator's tuner says: by its program for each call, or by a table that its ranks agreed on before. */
@NullMarked
package trigon.policy.host.decision;

import org.jspecify.annotations.NullMarked;
