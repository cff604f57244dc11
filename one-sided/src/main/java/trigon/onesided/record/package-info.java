/** Layout of what a rank tells another one to do. */
@NullMarked
package trigon.onesided.record;

import org.jspecify.annotations.NullMarked;
