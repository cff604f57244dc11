/**
 * The command plan: addresses, files and commands for given cables, and what these cables are good for. No I/O but the
 * command's.
 */
@NullMarked
package trigon.tools.plan;

import org.jspecify.annotations.NullMarked;
