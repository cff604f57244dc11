package trigon.stream.circuit;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A request to a relay: the route from it on. The last hop is the end, those before it are relays. No hop twice: so
 * a circuit has no loop.
 *
 * @param hops 1 to {@link CircuitFormat#MAX_RELAYS}, in their order
 * @param prologue what the ends say before each hop is upgraded; empty if all stays on TCP
 */
public record CircuitRequest(List<InetSocketAddress> hops, Optional<Prologue> prologue) {

    public CircuitRequest {
        hops = List.copyOf(hops);
        if (hops.isEmpty() || hops.size() > CircuitFormat.MAX_RELAYS) {
            throw new IllegalArgumentException(hops.size() + " hops are not in 1.." + CircuitFormat.MAX_RELAYS);
        }
        if (hops.stream().distinct().count() != hops.size()) {
            throw new IllegalArgumentException("a hop twice: " + hops);
        }
    }

    /** One whose bytes stay on TCP. */
    public CircuitRequest(List<InetSocketAddress> hops) {
        this(hops, Optional.empty());
    }

    CircuitRequest withPrologue(Prologue said) {
        return new CircuitRequest(hops, Optional.of(said));
    }

    /** The request to the next relay; empty at the last. */
    public Optional<CircuitRequest> rest() {
        return hops.size() == 1
                ? Optional.empty()
                : Optional.of(new CircuitRequest(hops.subList(1, hops.size()), prologue));
    }

    /**
     * The bytes to send.
     *
     * @param greeting the relay's, {@link CircuitFormat#GREETING_BYTES} bytes
     */
    public byte[] encode(byte[] greeting, CircuitKeys keys) {
        List<byte[]> mine = keys.keys(CircuitFormat.MAX_PROOFS);
        byte[] body = body(mine.size());
        ByteBuffer all = ByteBuffer.allocate(body.length + mine.size() * CircuitKeys.PROOF_BYTES);
        all.put(body);
        mine.forEach(key -> all.put(CircuitKeys.proof(key, greeting, body)));
        return all.array();
    }

    private byte[] body(int proofs) {
        ByteBuffer buffer = ByteBuffer.allocate(CircuitFormat.HEADER_BYTES + hops.size() * CircuitFormat.HOP_BYTES);
        buffer.putInt(CircuitFormat.MAGIC)
                .put(CircuitFormat.VERSION)
                .put((byte) hops.size())
                .put((byte) proofs)
                .put((byte) 0)
                .putShort((short) prologue.map(Prologue::forward).orElse(0).intValue())
                .putShort((short) prologue.map(Prologue::back).orElse(0).intValue());
        hops.forEach(hop -> CircuitFormat.putHop(buffer, hop));
        return buffer.array();
    }

    /** The number of bytes that follow a header; -1 if it is none. */
    public static int bytesAfter(byte[] header) {
        ByteBuffer buffer = ByteBuffer.wrap(header);
        if (buffer.getInt() != CircuitFormat.MAGIC || buffer.get() != CircuitFormat.VERSION) {
            return -1;
        }
        int hops = buffer.get();
        int proofs = buffer.get();
        boolean sane =
                hops >= 1 && hops <= CircuitFormat.MAX_RELAYS && proofs >= 0 && proofs <= CircuitFormat.MAX_PROOFS;
        return sane ? hops * CircuitFormat.HOP_BYTES + proofs * CircuitKeys.PROOF_BYTES : -1;
    }

    /** A request as it came, and whether the keys admit it. */
    public record Received(CircuitRequest request, boolean admitted) {}

    private static Optional<Prologue> prologue(byte[] header) {
        ByteBuffer buffer = ByteBuffer.wrap(header);
        int forward = Short.toUnsignedInt(buffer.getShort(8));
        int back = Short.toUnsignedInt(buffer.getShort(10));
        return forward == 0 || back == 0 ? Optional.empty() : Optional.of(new Prologue(forward, back));
    }

    /** Reads one; empty if it is none. */
    public static Optional<Received> decode(byte[] greeting, byte[] header, byte[] rest, CircuitKeys keys) {
        int count = header[5];
        int hopBytes = count * CircuitFormat.HOP_BYTES;
        byte[] body = ByteBuffer.allocate(header.length + hopBytes)
                .put(header)
                .put(rest, 0, hopBytes)
                .array();
        ByteBuffer buffer = ByteBuffer.wrap(rest);
        List<InetSocketAddress> hops = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Optional<InetSocketAddress> hop = CircuitFormat.hop(buffer);
            if (hop.isEmpty() || hops.contains(hop.get())) {
                return Optional.empty();
            }
            hops.add(hop.get());
        }
        List<byte[]> proofs = new ArrayList<>();
        for (int i = 0; i < header[6]; i++) {
            byte[] proof = new byte[CircuitKeys.PROOF_BYTES];
            buffer.get(proof);
            proofs.add(proof);
        }
        return Optional.of(
                new Received(new CircuitRequest(hops, prologue(header)), keys.admits(greeting, body, proofs)));
    }
}
