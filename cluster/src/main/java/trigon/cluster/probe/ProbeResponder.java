package trigon.cluster.probe;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import trigon.system.PortRange;

/**
 * Answers the probes of other nodes at this node's addresses: bytes over TCP by their checksum, datagrams by their
 * length. Daemon threads; closing ends them.
 */
final class ProbeResponder implements AutoCloseable {

    /** RoCE v2's, IANA "ri"; what blocks it blocks RDMA. */
    static final int ROCE_PORT = 4791;

    private static final int MAX_BYTES = 1 << 30;
    private static final int BACKLOG = 50;
    private static final int SOCKET_TIMEOUT_MILLIS = 10_000;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Map<InetAddress, Ports> ports = new HashMap<>();

    /**
     * Ports at which it answers, at an address.
     *
     * @param roce true if also at the port of RoCE; not if a device has it: then its own packets are the test
     * @param topology the port of announcements, where it answers too; 0 if a job has it
     */
    record Ports(int tcp, int udp, boolean roce, int topology) {}

    /**
     * Ports at the address, opened when they are first asked for.
     *
     * @param range TCP ports that a job's processes listen on
     */
    synchronized Ports at(InetAddress address, PortRange range, int topologyPort) throws IOException {
        Ports known = ports.get(address);
        if (known != null) {
            return known;
        }
        ServerSocket server = listen(address, range);
        open.add(server);
        daemon("tcp", () -> accept(server));
        DatagramSocket datagrams = new DatagramSocket(new InetSocketAddress(address, 0));
        open.add(datagrams);
        daemon("udp", () -> acknowledge(datagrams));
        Ports opened = new Ports(
                server.getLocalPort(),
                datagrams.getLocalPort(),
                answersAt(address, ROCE_PORT),
                topologyPort > 0 && answersAt(address, topologyPort) ? topologyPort : 0);
        ports.put(address, opened);
        return opened;
    }

    private static ServerSocket listen(InetAddress address, PortRange range) throws IOException {
        PortRange.Binding<ServerSocket, IOException> binding = port -> new ServerSocket(port, BACKLOG, address);
        try {
            return range.bind(binding);
        } catch (IOException _) {
            return PortRange.ANY.bind(binding); // a job has all of them
        }
    }

    /** Tells whether the port was free, and is answered at now. */
    private boolean answersAt(InetAddress address, int port) {
        try {
            DatagramSocket datagrams = new DatagramSocket(new InetSocketAddress(address, port));
            open.add(datagrams);
            daemon("udp-" + port, () -> acknowledge(datagrams));
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static void daemon(String name, Runnable task) {
        Thread.ofPlatform().name("trigon-probe-" + name).daemon().start(task);
    }

    private static void accept(ServerSocket server) {
        try {
            while (true) {
                Socket socket = server.accept();
                daemon("transfer", () -> receive(socket));
            }
        } catch (IOException _) {
            return; // closed
        }
    }

    /** A length, that many bytes; answered by their checksum, as often as the other end likes. */
    private static void receive(Socket socket) {
        try (socket) {
            socket.setSoTimeout(SOCKET_TIMEOUT_MILLIS);
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            byte[] buffer = new byte[1 << 16];
            while (true) {
                long left = in.readLong();
                if (left < 0 || left > MAX_BYTES) {
                    return;
                }
                CRC32C checksum = new CRC32C();
                while (left > 0) {
                    int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
                    if (count < 0) {
                        return;
                    }
                    checksum.update(buffer, 0, count);
                    left -= count;
                }
                out.writeLong(checksum.getValue());
                out.flush();
            }
        } catch (IOException _) {
            return; // the other end is done
        }
    }

    private static void acknowledge(DatagramSocket socket) {
        byte[] buffer = new byte[1 << 16];
        try {
            while (true) {
                DatagramPacket packet = new DatagramPacket(buffer, buffer.length);
                socket.receive(packet);
                byte[] answer = ByteBuffer.allocate(8)
                        .putInt(
                                packet.getLength() >= 4
                                        ? ByteBuffer.wrap(buffer).getInt()
                                        : 0)
                        .putInt(packet.getLength())
                        .array();
                try {
                    socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
                } catch (IOException _) {
                    // the way back is blocked: the other end will see that
                }
            }
        } catch (IOException _) {
            return; // closed
        }
    }

    @Override
    public synchronized void close() {
        for (AutoCloseable each : open) {
            try {
                each.close();
            } catch (Exception _) {
                // of a process that ends
            }
        }
        open.clear();
        ports.clear();
    }
}
