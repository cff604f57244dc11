/**
 * Records of the data path, and their way into files. See {@link trigon.trace.Recorder}.
 *
 * <p>No payload, no address and no secret is ever recorded: a record has times, numbers and sizes alone.
 */
@NullMarked
package trigon.trace;

import org.jspecify.annotations.NullMarked;
