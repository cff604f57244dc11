/**
 * Maps: what policies remember, and share with each other and with the host. Native memory, all of it allocated when
 * a map is created; looking up and updating allocates nothing.
 *
 * <p>A map's memory lives as long as its {@link trigon.policy.map.MapSet}, or a program that uses it, can be reached.
 * There is nothing to close: a program that still runs on some thread keeps what it works on.
 *
 * <p>Each map has a second memory of the same size, the shadow. A program that is warmed up before it is switched in
 * runs on the shadows, and changes nothing that others see.
 *
 * @see <a href="https://docs.kernel.org/bpf/maps.html">Linux, BPF maps</a>
 */
@NullMarked
package trigon.policy.map;

import org.jspecify.annotations.NullMarked;
