/**
 * The kernel's word on this machine's network: events of interfaces, which a thread waits for, and routes, rules,
 * neighbours and names, for which any thread asks; its table of TCP connections; and its barrier for all threads of the
 * process.
 */
@NullMarked
package trigon.system.kernel;

import org.jspecify.annotations.NullMarked;
