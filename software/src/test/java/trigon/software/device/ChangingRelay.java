package trigon.software.device;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import trigon.software.SoftwareDevice;
import trigon.software.wire.WireFormat;
import trigon.stream.circuit.CircuitFormat;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.circuit.CircuitRoutes;

/** A relay for what one device sends, which changes one bit of that if it is told. */
final class ChangingRelay implements AutoCloseable {

    static final String ADDRESS = "127.0.12.9";
    static final String OTHER_ADDRESS = "127.0.12.8";

    private static final int NONCE_BYTES = 16;
    private static final CircuitKeys KEYS = new CircuitKeys(Optional.of(new byte[] {7}));

    private final SoftwareDevice sender;
    private final ServerSocket server;
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final byte[] buffer;
    private final ByteArrayOutputStream requests = new ByteArrayOutputStream(); // guarded by itself

    /** The byte of the requests in which a bit is changed; -1 for none. */
    private volatile long changedByte = -1;

    private volatile int changedBit;

    /** A relay for what the first device sends, which passes on so many bytes at once. */
    ChangingRelay(int piece) {
        this(Loopback.A, ADDRESS, piece);
    }

    /** A relay at that address for what that device sends, which passes on so many bytes at once. */
    ChangingRelay(SoftwareDevice sender, String address, int piece) {
        this.sender = sender;
        buffer = new byte[piece];
        try {
            server = new ServerSocket(0, 50, InetAddress.ofLiteral(address));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Thread.ofPlatform().daemon().name("changing-relay").start(this::run);
    }

    /** Changes that bit of the first connection's requests; said before the byte is sent. */
    void change(long at, int bit) {
        changedBit = bit;
        changedByte = at;
    }

    /** What leads from its sender to others through here. */
    CircuitRoutes routes() {
        InetSocketAddress here = new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
        return (local, remote) -> local.equals(sender.address())
                ? Optional.of(new CircuitRoutes.CircuitRoute(here, new CircuitRequest(List.of(remote)), KEYS))
                : Optional.empty();
    }

    /** The requests that have been passed on, as they came here. */
    byte[] requests() {
        synchronized (requests) {
            return requests.toByteArray();
        }
    }

    private void run() {
        try {
            while (true) {
                Socket from = server.accept();
                open.add(from);
                Socket to = connect(from);
                open.add(to);
                Thread.ofPlatform().daemon().start(() -> pass(to, from));
                pass(from, to, new DataInputStream(from.getInputStream()));
            }
        } catch (IOException _) {
            // it is being closed
        }
    }

    private Socket connect(Socket from) throws IOException {
        DataInputStream in = new DataInputStream(from.getInputStream());
        from.setTcpNoDelay(true);
        byte[] greeting = CircuitFormat.greeting(new byte[NONCE_BYTES]);
        from.getOutputStream().write(greeting);
        byte[] header = in.readNBytes(CircuitFormat.HEADER_BYTES);
        byte[] rest = in.readNBytes(CircuitRequest.bytesAfter(header));
        CircuitRequest request = CircuitRequest.decode(greeting, header, rest, KEYS)
                .orElseThrow(() -> new IOException("no request"))
                .request();
        Socket to = new Socket();
        to.setTcpNoDelay(true);
        to.bind(new InetSocketAddress(server.getInetAddress(), 0));
        to.connect(request.hops().getFirst());
        from.getOutputStream().write(CircuitFormat.opened());
        return to;
    }

    /** The requests, until one side ends. */
    private void pass(Socket from, Socket to, DataInputStream in) {
        try {
            to.getOutputStream().write(in.readNBytes(WireFormat.PREAMBLE_BYTES));
            long passed = 0;
            for (int bytes = in.read(buffer); bytes >= 0; bytes = in.read(buffer)) {
                synchronized (requests) {
                    requests.write(buffer, 0, bytes);
                }
                long at = changedByte - passed;
                if (at >= 0 && at < bytes) {
                    buffer[(int) at] ^= (byte) (1 << changedBit);
                }
                to.getOutputStream().write(buffer, 0, bytes);
                passed += bytes;
            }
            to.shutdownOutput();
        } catch (IOException _) {
            close(from);
            close(to);
        }
    }

    private static void pass(Socket from, Socket to) {
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            in.transferTo(out);
            to.shutdownOutput();
        } catch (IOException _) {
            close(from);
            close(to);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        open.forEach(ChangingRelay::close);
    }
}
