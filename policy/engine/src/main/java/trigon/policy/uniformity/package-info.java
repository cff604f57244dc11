/**
 * The proof that a program decides alike on all ranks. NCCL has no step in which ranks agree on algorithm, protocol and
 * channels: if one rank's tuner chooses differently, the job hangs.
 *
 * <p>Programs of events and of connections run at another moment on each rank. All that they write is therefore
 * different, even where they read nothing at all.
 *
 * <p>What a program reads is either the same on all ranks in the same call, or not. The latter spreads: through
 * arithmetic, memory and maps, and to everything that is written where a branch on it decides. It must not come to an
 * output. Registers are followed instruction by instruction; a byte of the stack, and a map, counts as different once
 * anything different is written to it anywhere.
 *
 * @see <a href="https://doi.org/10.1145/359636.359712">Denning and Denning, Certification of programs for secure
 *     information flow</a>
 */
@NullMarked
package trigon.policy.uniformity;

import org.jspecify.annotations.NullMarked;
