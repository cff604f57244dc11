/**
 * What all kinds of plugins need to be guests of a C library: what C tells them, upcall stubs, failures and results.
 */
@NullMarked
package trigon.entry.host;

import org.jspecify.annotations.NullMarked;
