package trigon.stream.hop;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import trigon.stream.ByteStream;
import trigon.stream.SocketStream;
import trigon.system.InterfaceAddress;
import trigon.verbs.VerbsException;

/**
 * The agreement of the two sides of a hop on the carrier of its bytes: one of them, who has dialled, says where it
 * receives chunks, the other answers the same, and the first says whether it has connected.
 *
 * <pre>
 * who dialled                    who accepted
 * offer              ──>
 *                    &lt;──   answer     connected already
 * ready              ──>
 * </pre>
 *
 * Whoever cannot, says TCP, and the bytes stay where they are. No I/O: who has the connection sends what {@link #begin}
 * and {@link #next} return, and reads what is {@link #expected} and no more. One thread at a time, which may block,
 * since queue pairs are opened and connected.
 */
public final class HopUpgrade {

    private enum Phase {
        AWAITS_OFFER,
        AWAITS_ANSWER,
        AWAITS_READY,
        OVER
    }

    private static final byte[] NOTHING = {};
    private final HopDevices devices;
    private final InetAddress local;
    private final InetAddress neighbour;
    private final SlotGeometry wanted;
    private final HopUse use;
    private Phase phase;
    private ByteBuffer expected;
    private @Nullable HopQueuePair queuePair;
    private @Nullable SlotGeometry peer;

    private HopUpgrade(
            HopDevices devices,
            InetAddress local,
            InetAddress neighbour,
            SlotGeometry wanted,
            HopUse use,
            Phase phase) {
        this.devices = devices;
        this.local = local;
        this.neighbour = neighbour;
        this.wanted = wanted;
        this.use = use;
        this.phase = phase;
        expected = ByteBuffer.allocate(HopOffer.BYTES);
    }

    /**
     * The end that dialled, and sends messages: it receives acknowledgements.
     *
     * @param neighbour the address that it dialled
     */
    public static HopUpgrade ofDialer(HopDevices devices, InetAddress local, InetAddress neighbour) {
        return new HopUpgrade(devices, local, neighbour, SlotGeometry.BACK, HopUse.READ, Phase.AWAITS_ANSWER);
    }

    /**
     * The end that accepted, and receives messages.
     *
     * @param neighbour the address that dialled
     */
    public static HopUpgrade ofAccepter(HopDevices devices, InetAddress local, InetAddress neighbour) {
        return new HopUpgrade(devices, local, neighbour, SlotGeometry.FORWARD, HopUse.READ, Phase.AWAITS_OFFER);
    }

    /** The side of a relay, towards who dialled it: what comes from there is forwarded. */
    public static HopUpgrade ofIncoming(HopDevices devices, InetAddress local, InetAddress neighbour) {
        return new HopUpgrade(devices, local, neighbour, SlotGeometry.FORWARD, HopUse.FORWARDED, Phase.AWAITS_OFFER);
    }

    /** The side of a relay, towards whom it has dialled. */
    public static HopUpgrade ofOutgoing(HopDevices devices, InetAddress local, InetAddress neighbour) {
        return new HopUpgrade(devices, local, neighbour, SlotGeometry.BACK, HopUse.FORWARDED, Phase.AWAITS_ANSWER);
    }

    /** The buffer for what is read next; full before {@link #next} is called. */
    public ByteBuffer expected() {
        return expected;
    }

    /** Returns whether both sides have agreed. */
    public boolean isOver() {
        return phase == Phase.OVER;
    }

    /** Returns whether both sides have agreed on chunks; until {@link #stream}. */
    public boolean isRdma() {
        return isOver() && queuePair != null && peer != null;
    }

    /** The bytes to be sent before anything is read; empty from who accepted. */
    public byte[] begin() {
        return phase == Phase.AWAITS_ANSWER ? offer().encode() : NOTHING;
    }

    /**
     * Takes what was expected.
     *
     * @return what is to be sent now; may be empty
     * @throws IOException if the other side does not speak this protocol
     */
    public byte[] next() throws IOException {
        byte[] read = expected.array();
        return switch (phase) {
            case AWAITS_OFFER -> answer(decoded(read)).encode();
            case AWAITS_ANSWER -> ready(decoded(read));
            case AWAITS_READY -> {
                onReady(read[0]);
                yield NOTHING;
            }
            case OVER -> throw new IllegalStateException("both have agreed");
        };
    }

    private static HopOffer decoded(byte[] read) throws IOException {
        return HopOffer.decode(read)
                .orElseThrow(() -> new IOException("the neighbour's RDMA description is malformed"));
    }

    private HopOffer offer() {
        Optional<HopQueuePair> opened = devices.openQueuePair(local, wanted, use);
        if (opened.isEmpty()) {
            return new HopOffer.Stay();
        }
        queuePair = opened.get();
        return new HopOffer.Chunks(opened.get().endpoint(), opened.get().receives());
    }

    private HopOffer answer(HopOffer offered) {
        HopOffer answer = offered instanceof HopOffer.Chunks ? offer() : new HopOffer.Stay();
        phase = Phase.AWAITS_READY;
        expected = ByteBuffer.allocate(1);
        return connect(offered) ? answer : new HopOffer.Stay();
    }

    private byte[] ready(HopOffer answer) {
        boolean connected = connect(answer);
        phase = Phase.OVER;
        return new byte[] {(connected ? Carrier.RDMA : Carrier.TCP).code()};
    }

    private void onReady(byte carrier) throws IOException {
        phase = Phase.OVER;
        if (carrier == Carrier.TCP.code()) {
            close();
        } else if (carrier != Carrier.RDMA.code() || queuePair == null) {
            throw new IOException("the neighbour is ready for a carrier that was not offered");
        }
    }

    private boolean connect(HopOffer said) {
        HopQueuePair mine = queuePair;
        if (mine == null || !(said instanceof HopOffer.Chunks(var endpoint, var slots))) {
            close();
            return false;
        }
        if (!devices.mayReach(local, endpoint.gid(), neighbour)) {
            stay("the neighbour %s offers RDMA by the GID %s, which is not its address"
                    .formatted(InterfaceAddress.text(neighbour), endpoint.gid()));
            return false;
        }
        try {
            peer = mine.connect(endpoint, slots);
            return true;
        } catch (VerbsException e) {
            stay(String.valueOf(e.getMessage()));
            return false;
        }
    }

    private void stay(String why) {
        devices.onFailure(local, why);
        close();
    }

    /**
     * The stream that chunks come and go by; empty if the bytes stay on the TCP connection. Once, after the end.
     *
     * @param writes whether it is written to, and not only forwarded to
     * @param disposer gives back what is held on the device, which may block
     * @throws IOException if the device has no memory for what is written
     */
    public Optional<ChunkStream> stream(SocketChannel socket, boolean writes, Executor disposer) throws IOException {
        HopQueuePair mine = queuePair;
        SlotGeometry theirs = peer;
        if (mine == null || theirs == null) {
            return Optional.empty();
        }
        // a relay that writes forwards nothing from the slots that it receives into, and has counted these twice
        SlotGeometry sends = writes && use == HopUse.FORWARDED
                ? theirs.within(mine.receives().bytes())
                : theirs;
        ChunkStream stream = new ChunkStream(mine, sends, socket, disposer, devices.clock());
        queuePair = null;
        if (writes) {
            try {
                stream.addSendSlots();
            } catch (VerbsException e) {
                stream.close();
                throw new IOException(e.getMessage(), e);
            }
        }
        return Optional.of(stream);
    }

    /**
     * The carrier of the bytes of an end, which writes and reads them. Once, after the end.
     *
     * @param disposer gives back what is held on the device, which may block
     * @throws IOException if the device has no memory for what is written
     */
    public ByteStream carrier(SocketChannel socket, Executor disposer) throws IOException {
        Optional<ChunkStream> chunks = stream(socket, true, disposer);
        return chunks.isPresent() ? chunks.get() : new SocketStream(socket);
    }

    /** Gives back what it holds, unless that is a stream's. Twice is allowed. */
    public void close() {
        HopQueuePair mine = queuePair;
        queuePair = null;
        if (mine != null) {
            mine.close();
        }
    }
}
