/** The file that a policy comes from, and its new versions. */
@NullMarked
package trigon.policy.file;

import org.jspecify.annotations.NullMarked;
