package trigon.system.kernel;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.system.kernel.InterfaceEvent.Address;
import trigon.system.kernel.InterfaceEvent.State;

/**
 * Reads what the kernel sends to the groups of routing sockets. Whatever does not look as it should is left out.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/netlink.7.html">netlink(7)</a>
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 */
final class NetlinkMessages {

    // linux/netlink.h, linux/rtnetlink.h, linux/if_link.h, linux/if_addr.h, net/if.h
    static final int HEADER_BYTES = 16;
    static final int NEW_LINK = 16;
    static final int DELETE_LINK = 17;
    static final int NEW_ADDRESS = 20;
    static final int DELETE_ADDRESS = 21;
    static final int LINK_BYTES = 16;
    static final int ADDRESS_BYTES = 8;
    static final int ATTRIBUTE_HEADER_BYTES = 4;
    static final int IFA_ADDRESS = 1;
    static final int IFA_LOCAL = 2;
    static final int IFF_UP = 1;
    static final int IFF_RUNNING = 0x40;

    /** Messages about a bridge's ports, which say nothing of the interface itself, have AF_BRIDGE here. */
    private static final int UNSPECIFIED_FAMILY = 0;

    private static final int ALIGNMENT = 4;

    private NetlinkMessages() {}

    /** What one datagram says, in its order; in the byte order of this machine. */
    static List<InterfaceEvent> read(ByteBuffer datagram) {
        List<InterfaceEvent> events = new ArrayList<>();
        while (datagram.remaining() >= HEADER_BYTES) {
            int begin = datagram.position();
            int length = datagram.getInt(begin);
            if (length < HEADER_BYTES || length > datagram.remaining()) {
                break;
            }
            ByteBuffer body =
                    datagram.slice(begin + HEADER_BYTES, length - HEADER_BYTES).order(datagram.order());
            InterfaceEvent event = read(datagram.getShort(begin + 4), body);
            if (event != null) {
                events.add(event);
            }
            datagram.position(begin + Math.min(aligned(length), datagram.remaining()));
        }
        return events;
    }

    private static @Nullable InterfaceEvent read(int type, ByteBuffer body) {
        return switch (type) {
            case NEW_LINK, DELETE_LINK -> link(type == NEW_LINK, body);
            case NEW_ADDRESS, DELETE_ADDRESS -> address(type == NEW_ADDRESS, body);
            default -> null;
        };
    }

    private static @Nullable InterfaceEvent link(boolean there, ByteBuffer body) {
        if (body.remaining() < LINK_BYTES || body.get(0) != UNSPECIFIED_FAMILY) {
            return null;
        }
        int wanted = IFF_UP | IFF_RUNNING;
        return new State(body.getInt(4), there && (body.getInt(8) & wanted) == wanted);
    }

    private static @Nullable InterfaceEvent address(boolean present, ByteBuffer body) {
        if (body.remaining() < ADDRESS_BYTES) {
            return null;
        }
        int index = body.getInt(4);
        InetAddress found = null;
        int at = ADDRESS_BYTES;
        while (at + ATTRIBUTE_HEADER_BYTES <= body.limit()) {
            int length = body.getShort(at) & 0xFFFF;
            int kind = body.getShort(at + 2) & 0xFFFF;
            if (length < ATTRIBUTE_HEADER_BYTES || length > body.limit() - at) {
                break;
            }
            // of a point-to-point interface, the first is the other end's
            if (kind == IFA_LOCAL || (kind == IFA_ADDRESS && found == null)) {
                byte[] bytes = new byte[length - ATTRIBUTE_HEADER_BYTES];
                body.get(at + ATTRIBUTE_HEADER_BYTES, bytes);
                found = of(bytes);
            }
            at += aligned(length);
        }
        return found == null ? null : new Address(index, found, present);
    }

    private static @Nullable InetAddress of(byte... bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException _) {
            return null; // neither 4 bytes nor 16
        }
    }

    private static int aligned(int length) {
        return (length + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
