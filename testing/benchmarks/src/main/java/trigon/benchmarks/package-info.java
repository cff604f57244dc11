/** Turns the benchmarks' JSON files into tables and plots. */
@NullMarked
package trigon.benchmarks;

import org.jspecify.annotations.NullMarked;
