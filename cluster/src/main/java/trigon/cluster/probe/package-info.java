/**
 * What an examination of several nodes does on each of them, and how it asks them. Looks, and sends to addresses that
 * answer; changes nothing.
 */
@NullMarked
package trigon.cluster.probe;

import org.jspecify.annotations.NullMarked;
