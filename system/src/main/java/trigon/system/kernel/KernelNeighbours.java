package trigon.system.kernel;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Asks the kernel whether a neighbour's hardware answers (ARP, or neighbour discovery), as {@code ip neigh} shows it.
 * Linux 5.0 or later. Any thread; does not block.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 */
public final class KernelNeighbours {

    // linux/neighbour.h, linux/rtnetlink.h
    static final int NEW_NEIGHBOUR = 28;
    static final int NEIGHBOUR_BYTES = 12;
    static final int NDA_DST = 1;
    static final int NDA_LLADDR = 2;
    static final int INCOMPLETE = 0x01;
    static final int FAILED = 0x20;
    private static final int NO_ARP = 0x40;
    private static final int GET_NEIGHBOUR = 30;
    private static final int STATE_AT = 8;

    private KernelNeighbours() {}

    /**
     * The kernel's knowledge of an address.
     *
     * @param hardware its hardware address, for example {@code 02:42:ac:11:00:02}; empty if requests had no answer
     */
    public record Neighbour(Optional<String> hardware) {}

    /**
     * The neighbour at an address.
     *
     * @param interfaceIndex the interface that leads there
     * @return empty if the kernel has not asked for it, as on a tunnel, or answers nobody here
     */
    public static Optional<Neighbour> at(InetAddress address, int interfaceIndex) {
        return RoutingSocket.ask(request(address, interfaceIndex), false).stream()
                .findFirst()
                .flatMap(KernelNeighbours::neighbour);
    }

    private static byte[] request(InetAddress address, int interfaceIndex) {
        ByteBuffer fixed = ByteBuffer.allocate(NEIGHBOUR_BYTES).order(ByteOrder.nativeOrder());
        fixed.put(RouteAttributes.family(address)).putInt(4, interfaceIndex);
        return RouteAttributes.request(
                GET_NEIGHBOUR, 0, fixed.array(), RouteAttributes.attribute(NDA_DST, address.getAddress()));
    }

    static Optional<Neighbour> neighbour(ByteBuffer answer) {
        return RouteAttributes.of(answer, NEW_NEIGHBOUR, NEIGHBOUR_BYTES).stream()
                .findFirst()
                .flatMap(KernelNeighbours::neighbour);
    }

    private static Optional<Neighbour> neighbour(RouteAttributes found) {
        int state = found.header(STATE_AT); // the states above a byte's are of the kernel's own making
        if ((state & (INCOMPLETE | FAILED)) != 0) {
            return Optional.of(new Neighbour(Optional.empty()));
        }
        return found.value(NDA_LLADDR)
                .filter(_ -> state != 0 && (state & NO_ARP) == 0)
                .map(bytes ->
                        new Neighbour(Optional.of(HexFormat.ofDelimiter(":").formatHex(bytes))));
    }
}
