/**
 * NCCL's network calls as the plugin serves them, independent of the API version. {@link trigon.nccl.NetPlugin} is what
 * the native entry forwards NCCL's calls to. {@link trigon.nccl.PolicyService} is the policy that advises them.
 */
@NullMarked
package trigon.nccl;

import org.jspecify.annotations.NullMarked;
