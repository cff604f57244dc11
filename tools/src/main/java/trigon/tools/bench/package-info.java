/** The command bench: speeds of messages and all-reduces through the real plugin, without GPUs. */
@NullMarked
package trigon.tools.bench;

import org.jspecify.annotations.NullMarked;
