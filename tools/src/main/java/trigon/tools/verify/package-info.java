/** Whether a job's traffic goes where it should. */
@NullMarked
package trigon.tools.verify;

import org.jspecify.annotations.NullMarked;
