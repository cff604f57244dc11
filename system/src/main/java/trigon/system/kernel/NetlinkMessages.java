package trigon.system.kernel;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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

    /** One message, without its header. */
    record Message(int type, ByteBuffer body) {}

    /** One attribute of a message, without its header. */
    record Attribute(int kind, ByteBuffer value) {}

    private NetlinkMessages() {}

    /** The messages of one datagram, in its order; in the byte order of this machine. */
    static List<Message> messages(ByteBuffer datagram) {
        List<Message> messages = new ArrayList<>();
        while (datagram.remaining() >= HEADER_BYTES) {
            int begin = datagram.position();
            int length = datagram.getInt(begin);
            if (length < HEADER_BYTES || length > datagram.remaining()) {
                break;
            }
            ByteBuffer body =
                    datagram.slice(begin + HEADER_BYTES, length - HEADER_BYTES).order(datagram.order());
            messages.add(new Message(datagram.getShort(begin + 4), body));
            datagram.position(begin + Math.min(aligned(length), datagram.remaining()));
        }
        return messages;
    }

    /** The attributes from the buffer's position on. */
    static List<Attribute> attributes(ByteBuffer of) {
        List<Attribute> attributes = new ArrayList<>();
        int at = of.position();
        while (at + ATTRIBUTE_HEADER_BYTES <= of.limit()) {
            int length = of.getShort(at) & 0xFFFF;
            if (length < ATTRIBUTE_HEADER_BYTES || length > of.limit() - at) {
                break;
            }
            ByteBuffer value = of.slice(at + ATTRIBUTE_HEADER_BYTES, length - ATTRIBUTE_HEADER_BYTES)
                    .order(of.order());
            attributes.add(new Attribute(of.getShort(at + 2) & 0xFFFF, value));
            at += aligned(length);
        }
        return attributes;
    }

    /** The events of one datagram, in its order; in the byte order of this machine. */
    static List<InterfaceEvent> read(ByteBuffer datagram) {
        return messages(datagram).stream()
                .map(message -> read(message.type(), message.body()))
                .filter(Objects::nonNull)
                .toList();
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
        for (Attribute each : attributes(body.position(ADDRESS_BYTES))) {
            // of a point-to-point interface, the first is the other end's
            if (each.kind() == IFA_LOCAL || (each.kind() == IFA_ADDRESS && found == null)) {
                byte[] bytes = new byte[each.value().remaining()];
                each.value().get(bytes);
                found = of(bytes);
            }
        }
        return found == null ? null : new Address(index, found, present);
    }

    static @Nullable InetAddress of(byte... bytes) {
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
