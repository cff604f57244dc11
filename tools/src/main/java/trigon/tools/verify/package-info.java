/** Verdict on where a job's traffic goes. */
@NullMarked
package trigon.tools.verify;

import org.jspecify.annotations.NullMarked;
