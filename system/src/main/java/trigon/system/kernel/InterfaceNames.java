package trigon.system.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Alternative names of network interfaces, which {@code ip link} shows as {@code altname} and accepts anywhere; sysfs,
 * getifaddrs(3) and so NCCL know the first name alone. Any thread; does not block.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rtnetlink.7.html">rtnetlink(7)</a>
 */
public final class InterfaceNames {

    // linux/netlink.h, linux/rtnetlink.h, linux/if_link.h
    static final int IFLA_IFNAME = 3;
    static final int IFLA_PROP_LIST = 52;
    static final int IFLA_ALT_IFNAME = 53;
    private static final int GET_LINK = 18;
    private static final short REQUEST_DUMP = 0x301;

    /** Beside the kind, an attribute may say that it is nested. */
    private static final int KIND_MASK = 0x3FFF;

    private InterfaceNames() {}

    /** The name of the interface by each alternative name; none where the kernel answers nobody here. */
    public static Map<String, String> alternative() {
        Map<String, String> found = new HashMap<>();
        RoutingSocket.ask(request(), true).forEach(part -> read(part, found));
        return found;
    }

    private static byte[] request() {
        int length = NetlinkMessages.HEADER_BYTES + NetlinkMessages.LINK_BYTES;
        return ByteBuffer.allocate(length)
                .order(ByteOrder.nativeOrder())
                .putInt(length)
                .putShort((short) GET_LINK)
                .putShort(REQUEST_DUMP)
                .array();
    }

    /** Reads one part of the kernel's list, up to its end or to what is no interface. */
    static void read(ByteBuffer part, Map<String, String> found) {
        for (NetlinkMessages.Message message : NetlinkMessages.messages(part)) {
            if (message.type() != NetlinkMessages.NEW_LINK || message.body().remaining() < NetlinkMessages.LINK_BYTES) {
                return;
            }
            ByteBuffer attributes = message.body().position(NetlinkMessages.LINK_BYTES);
            String name = null;
            List<String> others = new ArrayList<>();
            for (NetlinkMessages.Attribute each : NetlinkMessages.attributes(attributes)) {
                switch (each.kind() & KIND_MASK) {
                    case IFLA_IFNAME -> name = text(each.value());
                    case IFLA_PROP_LIST -> others.addAll(alternative(each.value()));
                    default -> {} // the rest of what there is to an interface
                }
            }
            put(name, others, found);
        }
    }

    private static void put(@Nullable String name, List<String> others, Map<String, String> found) {
        if (name != null) {
            others.forEach(other -> found.put(other, name));
        }
    }

    private static List<String> alternative(ByteBuffer properties) {
        return NetlinkMessages.attributes(properties).stream()
                .filter(each -> (each.kind() & KIND_MASK) == IFLA_ALT_IFNAME)
                .map(each -> text(each.value()))
                .toList();
    }

    /** Without the zero at its end. */
    private static String text(ByteBuffer value) {
        String text = StandardCharsets.UTF_8.decode(value).toString();
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }
}
