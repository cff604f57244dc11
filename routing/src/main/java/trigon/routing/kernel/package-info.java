/** What the kernel says by itself of this machine's network interfaces, waited for and not asked for. */
@NullMarked
package trigon.routing.kernel;

import org.jspecify.annotations.NullMarked;
