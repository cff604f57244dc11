/**
 * NCCL's network calls as the plugin serves them, independent of the API version. {@link trigon.net.NetPlugin} is what
 * the native entry forwards NCCL's calls to.
 */
@NullMarked
package trigon.net;

import org.jspecify.annotations.NullMarked;
