/**
 * What the kernel says by itself of this machine's network interfaces, waited for and not asked for; its table of TCP
 * connections; and its barrier for all threads of the process.
 */
@NullMarked
package trigon.system.kernel;

import org.jspecify.annotations.NullMarked;
