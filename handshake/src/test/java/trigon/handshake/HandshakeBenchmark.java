package trigon.handshake;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;
import trigon.handshake.message.RandomMessages;
import trigon.system.NanoClock;

/**
 * What the proofs cost of a handshake, over loopback, both ends in this process. Not a test: run its {@code main}
 * with the test class path. The two are measured in turns, so that other load distorts both alike.
 */
final class HandshakeBenchmark {

    private static final int WARM_UP = 4_000;
    private static final int SAMPLES = 1_001;
    private static final int ROUNDS = 3;

    /** What is said after the hello: who says it, and roughly how long it is. */
    private static final boolean[] BY_LISTENER = {true, false, true, false, true};

    private static final int[] BYTES = {72, 130, 88, 40, 40};

    private HandshakeBenchmark() {}

    public static void main(String[] arguments) {
        long start = System.nanoTime();
        HandshakeProofs.warmUp();
        System.out.printf("first use: %d us%n", (System.nanoTime() - start) / 1000);
        try (Node connecting = new Node("127.0.0.2", Node.LONG, NanoClock.SYSTEM);
                Node listening = new Node("127.0.0.1", Node.LONG, NanoClock.SYSTEM)) {
            for (int i = 0; i < WARM_UP; i++) {
                handshake(connecting, listening);
                proofs();
            }
            for (int round = 0; round < ROUNDS; round++) {
                long[] handshakes = new long[SAMPLES];
                long[] proofs = new long[SAMPLES];
                for (int i = 0; i < SAMPLES; i++) {
                    handshakes[i] = timed(() -> handshake(connecting, listening));
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

    private static long handshake(Node connecting, Node listening) {
        ConnectionId connection = ConnectionId.random();
        Answer answer = listening.answer();
        listening
                .listeners()
                .register(connection, Node.secretOf(connection), _ -> CompletableFuture.completedFuture(answer));
        Offer offer = connecting.offer(connection);
        OutgoingOffer outgoing = connecting.connect(listening.listeningAt(), offer);
        outgoing.answer().join();
        Established established = outgoing.sendReady(1).join();
        listening.listeners().unregister(connection);
        established.lifeline().release();
        return established.answer().maxMessageBytes();
    }

    /** All that both sides derive, prove and verify in one handshake. */
    private static long proofs() {
        ConnectionSecret secret = ConnectionSecret.random();
        HandshakeProofs connecting = HandshakeProofs.of(Side.CONNECTING, secret, Optional.empty());
        HandshakeProofs listening = HandshakeProofs.of(Side.LISTENING, secret, Optional.empty());
        byte[] hello = RandomMessages.bytesOf(OpaqueBytes.random(80));
        connecting.note(hello);
        listening.note(hello);
        for (int i = 0; i < BYTES.length; i++) {
            byte[] frame = RandomMessages.bytesOf(OpaqueBytes.random(BYTES[i]));
            (BY_LISTENER[i] ? listening : connecting).prove(frame);
            if (!(BY_LISTENER[i] ? connecting : listening).verify(frame)) {
                throw new AssertionError("a right proof is refused");
            }
        }
        return hello.length;
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
