/**
 * The net plugin's calls as they come from C: upcall targets, the stubs that lead to them, and the layouts of NCCL's
 * structs. Knows no plugin but by {@link trigon.nccl.NetPlugin}.
 */
@NullMarked
package trigon.entry.net;

import org.jspecify.annotations.NullMarked;
