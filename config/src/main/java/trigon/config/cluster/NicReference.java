package trigon.config.cluster;

import java.net.InetAddress;
import trigon.config.setting.Source;
import trigon.system.InterfaceAddress;

/** The NIC that an entry of {@code peers} asks for. */
public sealed interface NicReference {

    /** Returns where the entry is. */
    Source source();

    /** By the name of an RDMA device or of a network interface. */
    record ByName(String name, Source source) implements NicReference {
        @Override
        public String toString() {
            return name;
        }
    }

    /** By one of its addresses. */
    record ByAddress(InetAddress address, Source source) implements NicReference {
        @Override
        public String toString() {
            return InterfaceAddress.text(address);
        }
    }
}
