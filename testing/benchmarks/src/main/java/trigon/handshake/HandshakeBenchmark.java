package trigon.handshake;

import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;

/**
 * What the proofs cost of a handshake, over loopback, both ends in this process. The two are measured in turns, so that
 * other load distorts both alike.
 */
final class HandshakeBenchmark {

    private static final int WARM_UP = 4_000;
    private static final int SAMPLES = 1_001;
    private static final int ROUNDS = 3;

    /** What is said after the hello: who says it, and roughly how long it is. */
    private static final boolean[] BY_LISTENER = {true, false, true, false, true};

    private static final int[] BYTES = {72, 130, 88, 40, 40};

    private HandshakeBenchmark() {}

    public static void main(String[] arguments) throws UnknownHostException {
        long start = System.nanoTime();
        HandshakeProofs.warmUp();
        System.out.printf("first use: %d us%n", (System.nanoTime() - start) / 1000);
        try (NodePair pair = new NodePair()) {
            for (int i = 0; i < WARM_UP; i++) {
                handshake(pair);
                proofs();
            }
            for (int round = 0; round < ROUNDS; round++) {
                long[] handshakes = new long[SAMPLES];
                long[] proofs = new long[SAMPLES];
                for (int i = 0; i < SAMPLES; i++) {
                    handshakes[i] = timed(() -> handshake(pair));
                    proofs[i] = timed(HandshakeBenchmark::proofs);
                }
                long all = median(handshakes);
                long share = median(proofs);
                System.out.printf(
                        "handshake: median %d us; proofs of both sides: median %d us, %d %%%n",
                        all / 1000, share / 1000, 100 * share / all);
            }
        }
    }

    private static long handshake(NodePair pair) {
        try {
            Established established = pair.establish(pair.connect(1));
            established.lifeline().release();
            return established.answer().maxMessageBytes();
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All that both sides derive, prove and verify in one handshake. */
    private static long proofs() {
        ConnectionSecret secret = ConnectionSecret.random();
        HandshakeProofs connecting = HandshakeProofs.of(Side.CONNECTING, secret, Optional.empty());
        HandshakeProofs listening = HandshakeProofs.of(Side.LISTENING, secret, Optional.empty());
        byte[] hello = random(80);
        connecting.note(hello);
        listening.note(hello);
        for (int i = 0; i < BYTES.length; i++) {
            byte[] frame = random(BYTES[i]);
            (BY_LISTENER[i] ? listening : connecting).prove(frame);
            if (!(BY_LISTENER[i] ? connecting : listening).verify(frame)) {
                throw new AssertionError("a right proof is refused");
            }
        }
        return hello.length;
    }

    private static byte[] random(int bytes) {
        byte[] random = new byte[bytes];
        ThreadLocalRandom.current().nextBytes(random);
        return random;
    }

    private static long timed(LongSupplier work) {
        long start = System.nanoTime();
        if (work.getAsLong() < 0) {
            throw new AssertionError("no result");
        }
        return System.nanoTime() - start;
    }

    private static long median(long[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
