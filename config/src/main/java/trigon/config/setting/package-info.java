/**
 * A setting: its key, how its value is written, where it was set, and the words that some may have.
 *
 * <p>Everything here is immutable, and safe for all threads.
 */
@NullMarked
package trigon.config.setting;

import org.jspecify.annotations.NullMarked;
