/**
 * The parts that make all kinds of plugins guests of a C library: blocks from C, upcall stubs, failures and results.
 */
@NullMarked
package trigon.entry.host;

import org.jspecify.annotations.NullMarked;
