package trigon.cluster.probe;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import jdk.net.ExtendedSocketOptions;
import trigon.cluster.json.Json;
import trigon.routing.KernelRouteLookup;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.KernelNeighbours;
import trigon.system.kernel.KernelRoute;
import trigon.system.kernel.KernelRoutes;

/** Tries one link to another node, whose {@link ProbeResponder} answers. Blocks for some seconds at most. */
final class Prober {

    /**
     * What is to be tried.
     *
     * @param from this end
     * @param to the other end
     * @param roce whether the other end answers at the port of RoCE
     * @param topologyPort where it answers, too; 0 if nowhere
     * @param mtu of this end's interface
     * @param bytes of the transfer
     * @param rate whether to measure the rate, which takes seconds and all of the link
     */
    record Order(
            InetAddress from,
            InetAddress to,
            int tcpPort,
            int udpPort,
            boolean roce,
            int topologyPort,
            int mtu,
            int bytes,
            boolean rate) {}

    private static final int CONNECT_MILLIS = 1500;
    private static final int ANSWER_MILLIS = 250;
    private static final int TRIES = 3;
    private static final int ROUND_TRIPS = 20;
    private static final long RATE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int SOCKET_TIMEOUT_MILLIS = 5_000;

    /** Of all that is sent over TCP: a read has a timeout of its own, and a write has none. */
    private static final long TRANSFER_MILLIS = 5_000;

    /** IPv4's header and UDP's; IPv6's has 20 bytes more. */
    private static final int HEADERS = 28;

    private Prober() {}

    static Map<String, Object> probe(Order order) {
        Map<String, Object> result =
                Json.object("from", InterfaceAddress.text(order.from()), "to", InterfaceAddress.text(order.to()));
        new KernelRouteLookup()
                .sourceFor(order.to())
                .ifPresentOrElse(
                        source -> result.put("source", InterfaceAddress.text(source)),
                        () -> result.put("source", "none"));
        Optional<KernelRoute> route = KernelRoutes.withRule(order.from(), order.to());
        route.ifPresent(taken -> {
            if (taken.hasGateway()) {
                result.put("gateway", true);
            }
            result.put("leavesBy", interfaceName(taken));
            result.put("route", taken.source());
        });
        transfer(order, result);
        datagrams(order, result);
        route.flatMap(taken -> KernelNeighbours.at(order.to(), taken.interfaceIndex()))
                .ifPresent(asked -> result.put("neighbour", asked.hardware().orElse("no answer")));
        return result;
    }

    private static String interfaceName(KernelRoute route) {
        try {
            NetworkInterface found = NetworkInterface.getByIndex(route.interfaceIndex());
            return found == null ? "" : found.getName();
        } catch (SocketException _) {
            return "";
        }
    }

    /** Whether a connection comes up at all; nothing is sent over it. */
    static boolean connects(InetAddress from, InetAddress to, int port) {
        try (Socket socket = new Socket()) {
            socket.bind(new InetSocketAddress(from, 0));
            socket.connect(new InetSocketAddress(to, port), CONNECT_MILLIS);
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static void transfer(Order order, Map<String, Object> result) {
        try (Socket socket = new Socket();
                Deadline _ = new Deadline(socket, TRANSFER_MILLIS + (order.rate() ? RATE_NANOS / 1_000_000 : 0))) {
            socket.setTcpNoDelay(true);
            socket.bind(new InetSocketAddress(order.from(), 0));
            socket.connect(new InetSocketAddress(order.to(), order.tcpPort()), CONNECT_MILLIS);
            socket.setSoTimeout(SOCKET_TIMEOUT_MILLIS);
            result.put("tcp", "ok");
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            DataInputStream in = new DataInputStream(socket.getInputStream());
            long[] micros = new long[ROUND_TRIPS];
            for (int i = 0; i < micros.length; i++) {
                long begin = System.nanoTime();
                out.writeLong(0);
                var _ = in.readLong();
                micros[i] = (System.nanoTime() - begin) / 1000;
            }
            Arrays.sort(micros);
            result.put("roundTripMicros", micros[micros.length / 2]);
            result.put("leastRoundTripMicros", micros[0]);
            byte[] data = new byte[order.bytes()];
            new Random(order.tcpPort()).nextBytes(data);
            CRC32C checksum = new CRC32C();
            checksum.update(data, 0, data.length);
            result.put("data", send(out, in, data) == checksum.getValue() ? "right" : "wrong");
            if (order.rate()) {
                result.put("rateMbps", rate(out, in, data));
            }
        } catch (SocketTimeoutException e) {
            result.putIfAbsent("tcp", "timeout");
            result.putIfAbsent("data", "timeout");
        } catch (NoRouteToHostException e) {
            result.putIfAbsent("tcp", "unreachable");
        } catch (ConnectException e) {
            result.putIfAbsent("tcp", String.valueOf(e.getMessage()).contains("timed out") ? "timeout" : "refused");
        } catch (SocketException e) { // closed by the deadline, or reset
            result.putIfAbsent("tcp", "error: " + e.getMessage());
            result.putIfAbsent("data", "timeout");
        } catch (IOException e) {
            result.putIfAbsent("tcp", "error: " + e.getMessage());
            result.putIfAbsent("data", "error: " + e.getMessage());
        }
    }

    private static long send(DataOutputStream out, DataInputStream in, byte[] data) throws IOException {
        out.writeLong(data.length);
        out.write(data);
        out.flush();
        return in.readLong();
    }

    private static long rate(DataOutputStream out, DataInputStream in, byte[] data) throws IOException {
        long begin = System.nanoTime();
        long bytes = 0;
        while (System.nanoTime() - begin < RATE_NANOS) {
            var _ = send(out, in, data);
            bytes += data.length;
        }
        return bytes * 8 * 1000 / (System.nanoTime() - begin);
    }

    private static void datagrams(Order order, Map<String, Object> result) {
        int headers = order.to().getAddress().length == 4 ? HEADERS : HEADERS + 20;
        int usual = Math.min(order.mtu(), 1280) - headers;
        boolean answered = isAnswered(order, order.udpPort(), usual);
        result.put("udp", answered ? "ok" : "no answer");
        if (!answered) {
            return; // other ports would say the same
        }
        if (order.roce()) {
            result.put("roceUdp", isAnswered(order, ProbeResponder.ROCE_PORT, usual) ? "ok" : "no answer");
        }
        if (order.topologyPort() > 0) {
            result.put("topologyUdp", isAnswered(order, order.topologyPort(), usual) ? "ok" : "no answer");
        }
        result.put("mtuArrives", largest(order, headers));
        result.put("datagrams", Burst.DATAGRAMS);
        result.put("datagramsLost", Burst.lost(order.from(), order.to(), order.udpPort()));
    }

    /** The largest packet that arrives whole: that of the interface, or the largest usual one below it. */
    private static int largest(Order order, int headers) {
        List<Integer> sizes = new ArrayList<>(List.of(Math.min(order.mtu(), 65_000)));
        for (int size : new int[] {9000, 4500, 4200, 2300, 2044, 1500, 1492, 1450, 1400, 1280}) {
            if (size < order.mtu()) {
                sizes.add(size);
            }
        }
        for (int size : sizes) {
            if (isAnswered(order, order.udpPort(), size - headers)) {
                return size;
            }
        }
        return 0;
    }

    private static boolean isAnswered(Order order, int port, int payload) {
        for (int i = 0; i < TRIES; i++) {
            if (isAnsweredOnce(order, port, payload)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAnsweredOnce(Order order, int port, int payload) {
        try (DatagramChannel channel = DatagramChannel.open()) {
            channel.setOption(StandardSocketOptions.SO_SNDBUF, 1 << 18);
            channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            channel.bind(new InetSocketAddress(order.from(), 0));
            DatagramSocket socket = channel.socket();
            socket.setSoTimeout(ANSWER_MILLIS);
            byte[] data = new byte[Math.max(payload, 8)];
            int number = (int) System.nanoTime();
            ByteBuffer.wrap(data).putInt(number);
            socket.send(new DatagramPacket(data, data.length, new InetSocketAddress(order.to(), port)));
            byte[] answer = new byte[8];
            DatagramPacket packet = new DatagramPacket(answer, answer.length);
            socket.receive(packet);
            ByteBuffer said = ByteBuffer.wrap(answer);
            return said.getInt() == number && said.getInt() == data.length;
        } catch (IOException | UnsupportedOperationException _) {
            return false; // too long for this end's interface, refused, or no answer
        }
    }
}
