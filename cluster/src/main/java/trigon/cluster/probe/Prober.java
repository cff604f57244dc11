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
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import jdk.net.ExtendedSocketOptions;
import trigon.cluster.probe.LinkResult.Answer;
import trigon.cluster.probe.LinkResult.Connection;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.probe.LinkResult.Neighbour;
import trigon.routing.KernelRouteLookup;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.KernelNeighbours;
import trigon.system.kernel.KernelRoute;
import trigon.system.kernel.KernelRoutes;

/** Tries one link to another node, whose {@link ProbeResponder} answers. Blocks for some seconds at most. */
final class Prober {

    /**
     * Makes a prober of what is to be tried.
     *
     * @param from this end
     * @param to the other end
     * @param roce true if the other end answers at the port of RoCE
     * @param topologyPort another port at which it answers; 0 for none
     * @param mtu of this end's interface
     * @param bytes of the transfer
     * @param rate true if to measure the rate, which takes seconds and all of the link
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

    /** Limit for a whole TCP connection: a read has a timeout of its own, and a write has none. */
    private static final long TRANSFER_MILLIS = 5_000;

    /** IPv4's header and UDP's; IPv6's has 20 bytes more. */
    private static final int HEADERS = 28;

    private static final int DATAGRAMS = 100;
    private static final int DATAGRAM_BYTES = 64;

    /** Fills no buffer on the way: a cable takes more in a microsecond. */
    private static final int AT_ONCE = 10;

    private static final int SILENCE_MILLIS = 700;

    private Prober() {}

    static LinkResult probe(Order order) {
        Optional<KernelRoute> route = KernelRoutes.withRule(order.from(), order.to());
        LinkResult.Ends ends = new LinkResult.Ends(
                InterfaceAddress.text(order.from()),
                InterfaceAddress.text(order.to()),
                new KernelRouteLookup()
                        .sourceFor(order.to())
                        .map(InterfaceAddress::text)
                        .orElse(LinkResult.NO_SOURCE),
                route.filter(KernelRoute::hasGateway).isPresent(),
                route.map(Prober::interfaceName).orElse(""),
                route.map(KernelRoute::source).orElse(""));
        LinkResult.Stream stream = new Stream().transfer(order);
        LinkResult.Datagrams datagrams = datagrams(order);
        return new LinkResult(
                ends,
                false,
                stream,
                datagrams,
                route.flatMap(taken -> KernelNeighbours.at(order.to(), taken.interfaceIndex()))
                        .map(asked -> asked.hardware().map(Neighbour::new).orElse(Neighbour.SILENT)),
                Optional.empty());
    }

    private static String interfaceName(KernelRoute route) {
        try {
            NetworkInterface found = NetworkInterface.getByIndex(route.interfaceIndex());
            return found == null ? "" : found.getName();
        } catch (SocketException _) {
            return "";
        }
    }

    /** Tells whether a connection comes up at all; nothing is sent over it. */
    static boolean connects(InetAddress from, InetAddress to, int port) {
        try (Socket socket = new Socket()) {
            socket.bind(new InetSocketAddress(from, 0));
            socket.connect(new InetSocketAddress(to, port), CONNECT_MILLIS);
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    /** A TCP connection, with what is known of it until it ends. */
    private static final class Stream {
        private Optional<Connection> tcp = Optional.empty();
        private Optional<Connection> data = Optional.empty();
        private Optional<Long> roundTrip = Optional.empty();
        private Optional<Long> least = Optional.empty();
        private Optional<Long> rate = Optional.empty();

        LinkResult.Stream transfer(Order order) {
            Socket socket = new Socket();
            Executor later = CompletableFuture.delayedExecutor(
                    TRANSFER_MILLIS + (order.rate() ? RATE_NANOS / 1_000_000 : 0), TimeUnit.MILLISECONDS);
            Future<?> deadline = CompletableFuture.runAsync(() -> close(socket), later);
            try (socket) {
                socket.setTcpNoDelay(true);
                socket.bind(new InetSocketAddress(order.from(), 0));
                socket.connect(new InetSocketAddress(order.to(), order.tcpPort()), CONNECT_MILLIS);
                socket.setSoTimeout(SOCKET_TIMEOUT_MILLIS);
                tcp = Optional.of(Usual.OK);
                exchange(
                        order,
                        new DataOutputStream(socket.getOutputStream()),
                        new DataInputStream(socket.getInputStream()));
            } catch (SocketTimeoutException e) {
                end(Usual.TIMEOUT, Usual.TIMEOUT);
            } catch (NoRouteToHostException e) {
                tcp = tcp.or(() -> Optional.of(Usual.UNREACHABLE));
            } catch (ConnectException e) {
                boolean late = String.valueOf(e.getMessage()).contains("timed out");
                tcp = tcp.or(() -> Optional.of(late ? Usual.TIMEOUT : Usual.REFUSED));
            } catch (SocketException e) { // closed by the deadline, or reset
                end(new Connection.Failed("error: " + e.getMessage()), Usual.TIMEOUT);
            } catch (IOException e) {
                Connection failed = new Connection.Failed("error: " + e.getMessage());
                end(failed, failed);
            }
            deadline.cancel(false);
            return new LinkResult.Stream(tcp.orElseThrow(), data, roundTrip, least, rate);
        }

        private static void close(Socket socket) {
            try {
                socket.close(); // wakes up whoever blocks on it
            } catch (IOException _) {
                // closed already
            }
        }

        private void end(Connection connecting, Connection transferring) {
            tcp = tcp.or(() -> Optional.of(connecting));
            data = data.or(() -> Optional.of(transferring));
        }

        private void exchange(Order order, DataOutputStream out, DataInputStream in) throws IOException {
            long[] micros = new long[ROUND_TRIPS];
            for (int i = 0; i < micros.length; i++) {
                long begin = System.nanoTime();
                out.writeLong(0);
                var _ = in.readLong();
                micros[i] = (System.nanoTime() - begin) / 1000;
            }
            Arrays.sort(micros);
            roundTrip = Optional.of(micros[micros.length / 2]);
            least = Optional.of(micros[0]);
            byte[] bytes = new byte[order.bytes()];
            new Random(order.tcpPort()).nextBytes(bytes);
            CRC32C checksum = new CRC32C();
            checksum.update(bytes, 0, bytes.length);
            data = Optional.of(send(out, in, bytes) == checksum.getValue() ? Usual.RIGHT : Usual.WRONG);
            if (order.rate()) {
                rate = Optional.of(rate(out, in, bytes));
            }
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

    private static LinkResult.Datagrams datagrams(Order order) {
        int headers = order.to().getAddress().length == 4 ? HEADERS : HEADERS + 20;
        int usual = Math.min(order.mtu(), 1280) - headers;
        if (!isAnswered(order, order.udpPort(), usual)) { // other ports would say the same
            return new LinkResult.Datagrams(
                    Optional.of(Answer.NONE), Optional.empty(), Optional.empty(), Optional.empty(), 0, 0);
        }
        return new LinkResult.Datagrams(
                Optional.of(Answer.OK),
                order.roce() ? answer(order, ProbeResponder.ROCE_PORT, usual) : Optional.empty(),
                order.topologyPort() > 0 ? answer(order, order.topologyPort(), usual) : Optional.empty(),
                Optional.of(largest(order, headers)),
                DATAGRAMS,
                lost(order));
    }

    private static Optional<Answer> answer(Order order, int port, int payload) {
        return Optional.of(isAnswered(order, port, payload) ? Answer.OK : Answer.NONE);
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

    /** Number of answers that did not come. A node that is busy answers late, and is waited for. */
    private static int lost(Order order) {
        BitSet answered = new BitSet(DATAGRAMS);
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(order.from(), 0))) {
            socket.connect(new InetSocketAddress(order.to(), order.udpPort()));
            for (int first = 0; first < DATAGRAMS; first += AT_ONCE) {
                for (int i = first; i < first + AT_ONCE; i++) {
                    byte[] data = ByteBuffer.allocate(DATAGRAM_BYTES).putInt(i).array();
                    socket.send(new DatagramPacket(data, data.length));
                }
                socket.setSoTimeout(1);
                receive(socket, answered, first + AT_ONCE);
            }
            socket.setSoTimeout(SILENCE_MILLIS);
            receive(socket, answered, DATAGRAMS);
        } catch (IOException _) {
            // the others did not come
        }
        return DATAGRAMS - answered.cardinality();
    }

    /** Until so many have been answered, or nothing comes any more. */
    private static void receive(DatagramSocket socket, BitSet answered, int wanted) throws IOException {
        byte[] answer = new byte[8];
        DatagramPacket packet = new DatagramPacket(answer, answer.length);
        try {
            while (answered.cardinality() < wanted) {
                socket.receive(packet);
                int number = ByteBuffer.wrap(answer).getInt();
                if (number >= 0 && number < DATAGRAMS) {
                    answered.set(number);
                }
            }
        } catch (SocketTimeoutException _) {
            return; // lost, or still on the way
        }
    }
}
