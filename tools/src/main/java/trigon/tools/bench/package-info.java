/** How fast messages and all-reduces are, through the real plugin, without GPUs. */
@NullMarked
package trigon.tools.bench;

import org.jspecify.annotations.NullMarked;
