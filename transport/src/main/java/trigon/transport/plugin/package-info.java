/**
 * NCCL's calls, and what they find by the handles that come with them. Its entry is
 * {@link trigon.transport.plugin.RoutedNetPlugin}.
 */
@NullMarked
package trigon.transport.plugin;

import org.jspecify.annotations.NullMarked;
