package trigon.cluster.probe;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;

/**
 * Finds out which cable goes where, whatever addresses the interfaces have: each node says by multicast to IPv6's
 * link-local group, on each interface, which it is, and hears the others. A router passes none of it on.
 */
final class Hellos implements AutoCloseable {

    /** For one's own use on one link, RFC 4291; the second of Trigon's. */
    private static final String GROUP = "ff12::5448";

    private static final int PORT = 21_578;
    private static final int MAX_BYTES = 1024;
    private static final int MAX_HEARD = 4096;

    private final DatagramChannel channel;
    private final List<NetworkInterface> interfaces;
    private final InetAddress group;
    private final Set<String> heard = new ConcurrentSkipListSet<>();

    /** Hears from now on, on all interfaces that may have a cable. */
    Hellos() throws IOException {
        group = InetAddress.ofLiteral(GROUP);
        channel = DatagramChannel.open(StandardProtocolFamily.INET6);
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(new InetSocketAddress(PORT));
            interfaces = NetworkInterface.networkInterfaces()
                    .filter(each -> mayHaveACable(each) && join(each))
                    .toList();
        } catch (IOException e) {
            channel.close();
            throw e;
        }
        Thread.ofPlatform().name("trigon-probe-hello").daemon().start(this::receive);
    }

    /** Tells whether it hears there: a container's interface may have gone since it was listed. */
    private boolean join(NetworkInterface on) {
        try {
            channel.join(group, on);
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static boolean mayHaveACable(NetworkInterface each) {
        try {
            return each.isUp()
                    && !each.isLoopback()
                    && each.supportsMulticast()
                    && each.inetAddresses()
                            .anyMatch(address -> address instanceof Inet6Address && address.isLinkLocalAddress());
        } catch (SocketException _) {
            return false;
        }
    }

    /** Says it on each interface, once. */
    void say(String session, String node) {
        for (NetworkInterface each : interfaces) {
            try {
                byte[] hello = Json.line(Json.object("session", session, "node", node, "interface", each.getName()))
                        .getBytes(StandardCharsets.UTF_8);
                channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, each);
                channel.send(ByteBuffer.wrap(hello), new InetSocketAddress(group, PORT));
            } catch (IOException _) {
                // no carrier, or its address is not ready: nobody hears it there
            }
        }
    }

    private void receive() {
        ByteBuffer buffer = ByteBuffer.allocate(MAX_BYTES);
        try {
            while (true) {
                buffer.clear();
                if (channel.receive(buffer) instanceof InetSocketAddress source
                        && source.getAddress() instanceof Inet6Address address
                        && heard.size() < MAX_HEARD) {
                    buffer.flip();
                    NetworkInterface on = NetworkInterface.getByIndex(address.getScopeId());
                    if (on != null) {
                        heard.add(on.getName() + " " + StandardCharsets.UTF_8.decode(buffer));
                    }
                }
            }
        } catch (IOException _) {
            return; // closed
        }
    }

    /** Hellos of the others of that session. */
    List<Map<String, Object>> heard(String session, String self) {
        List<Map<String, Object>> found = new ArrayList<>();
        for (String each : heard) {
            int blank = each.indexOf(' ');
            try {
                JsonObject hello = JsonObject.parse(each.substring(blank + 1));
                if (hello.text("session").equals(session) && !hello.text("node").equals(self)) {
                    found.add(Json.object(
                            "on", each.substring(0, blank),
                            "node", hello.text("node"),
                            "interface", hello.text("interface")));
                }
            } catch (IllegalArgumentException _) {
                // somebody else's
            }
        }
        return found;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
