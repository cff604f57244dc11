/** The distribution: its contents, its commands, and its folder wherever it is put. */
@NullMarked
package trigon.integration.distribution;

import org.jspecify.annotations.NullMarked;
