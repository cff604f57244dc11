/** Answers of a communicator's tuner: by its program for each call, or by a table that its ranks agreed on before. */
@NullMarked
package trigon.policy.host.decision;

import org.jspecify.annotations.NullMarked;
