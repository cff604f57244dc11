package trigon.transport.path;

import java.net.InetAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.connect.HandshakeClient;
import trigon.routing.Path;
import trigon.system.InterfaceAddress;

/** Sizes of RDMA packets that pass over a path, as far as its probes find out; new paths keep to them, for a while. */
final class PacketSizes {

    private static final Logger log = LoggerFactory.getLogger(PacketSizes.class);

    private final InetAddress local;
    private final InetAddress remote;
    private final HandshakeClient client;

    /** Those of a path, which that client keeps in mind. */
    PacketSizes(Path over, HandshakeClient client) {
        local = over.local().bindAddress();
        remote = over.remote().address();
        this.client = client;
    }

    /** Takes note that packets of the full size have passed; the log says so if they did not before. */
    void fullPasses(int bytes) {
        if (client.noteRdmaPackets(local, remote, true)) {
            log.info("RDMA packets of {} bytes pass again {}", bytes, this);
        }
    }

    /** Takes note that packets of the full size are lost, and smaller ones pass. */
    void fullIsLost(int bytes, int passing) {
        if (client.noteRdmaPackets(local, remote, false)) {
            log.warn(
                    "RDMA packets of {} bytes are lost {}, and packets of {} bytes pass: set one MTU on both ports and"
                            + " on the switches between them, for the traffic class of RoCE as well",
                    bytes,
                    this,
                    passing);
        }
    }

    /** For the log: from where to where. */
    @Override
    public String toString() {
        return "from %s to %s".formatted(InterfaceAddress.text(local), InterfaceAddress.text(remote));
    }
}
