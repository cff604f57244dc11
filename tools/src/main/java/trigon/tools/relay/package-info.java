/** {@code trigon relay}: a node in the middle that has no rank of the job. */
@NullMarked
package trigon.tools.relay;

import org.jspecify.annotations.NullMarked;
