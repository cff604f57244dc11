/** The archive for a bug report, without secrets. */
@NullMarked
package trigon.tools.support;

import org.jspecify.annotations.NullMarked;
