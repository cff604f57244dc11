/** One-sided communication over the real transport, by calls as the entry makes them. */
@NullMarked
package trigon.integration.onesided;

import org.jspecify.annotations.NullMarked;
