package trigon.software.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import trigon.system.Memory;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;

/** What is said and proven before the first request. */
class PreambleExchangeTest {

    private static final Gid CONNECTING = Gid.of(InetAddress.ofLiteral("127.0.12.1"));
    private static final Gid ACCEPTING = Gid.of(InetAddress.ofLiteral("127.0.12.2"));
    private static final ConnectionProofs PROOFS = new ConnectionProofs(key(1));
    private static final ConnectionProofs OTHERS = new ConnectionProofs(key(2));
    private static final ConnectionProofs NONE = new ConnectionProofs(null);
    private static final Preamble.Hello HELLO = new Preamble.Hello(0x123456, 0x654321, 0xABCDEF, CONNECTING, true);

    private final PreambleExchange accepting = new PreambleExchange();
    private final PreambleExchange connecting = new PreambleExchange();

    private static ConnectionKey key(int first) {
        byte[] bytes = new byte[ConnectionKey.BYTES];
        bytes[0] = (byte) first;
        return ConnectionKey.of(bytes);
    }

    private static Preamble read(PreambleExchange exchange, byte[] preamble) {
        try (NativeBuffer buffer = new NativeBuffer(preamble.length)) {
            for (int i = 0; i < preamble.length; i++) {
                Memory.putByte(buffer.at(i), preamble[i]);
            }
            return exchange.readPreamble(buffer.bytes());
        }
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private byte[] preamble(ConnectionProofs proofs) {
        connecting.greetingSpace().put(bytes(accepting.greet()));
        return bytes(connecting.answer(HELLO, proofs, ACCEPTING));
    }

    @Test
    void bothEndsBelieveEachOther() {
        byte[] greeting = bytes(accepting.greet());
        assertThat(new String(greeting, 0, 8, StandardCharsets.US_ASCII)).isEqualTo("TRIGONSV");
        connecting.greetingSpace().put(greeting);
        assertThat(connecting.refusal()).isEmpty();

        byte[] preamble = bytes(connecting.answer(HELLO, PROOFS, ACCEPTING));
        assertThat(read(accepting, preamble)).isEqualTo(HELLO);
        assertThat(accepting.isProven(PROOFS, ACCEPTING)).isTrue();
        byte[] acceptance = bytes(accepting.acceptance(PROOFS, ACCEPTING));
        assertThat(connecting.isAccepted(acceptance, PROOFS, ACCEPTING)).isTrue();
    }

    @Test
    void withoutAKeyNothingIsProvenOrAskedFor() {
        assertThat(read(accepting, preamble(NONE))).isEqualTo(HELLO);
        assertThat(accepting.isProven(NONE, ACCEPTING)).isTrue();
        assertThat(connecting.isAccepted(bytes(accepting.acceptance(NONE, ACCEPTING)), NONE, ACCEPTING))
                .isTrue();

        assertThat(accepting.isProven(PROOFS, ACCEPTING)).isFalse();
        assertThat(connecting.isAccepted(new byte[ConnectionProofs.BYTES], PROOFS, ACCEPTING))
                .isFalse();
        read(accepting, preamble(PROOFS));
        assertThat(accepting.isProven(NONE, ACCEPTING)).isFalse();
    }

    @Test
    void anotherKeyAnotherPortAndTheOtherDirectionAreRefused() {
        read(accepting, preamble(PROOFS));
        assertThat(accepting.isProven(OTHERS, ACCEPTING)).isFalse();
        assertThat(accepting.isProven(PROOFS, CONNECTING)).isFalse();

        byte[] acceptance = bytes(accepting.acceptance(OTHERS, ACCEPTING));
        assertThat(connecting.isAccepted(acceptance, PROOFS, ACCEPTING)).isFalse();
        byte[] said = new byte[WireFormat.GREETING_BYTES + WireFormat.PREAMBLE_BYTES];
        byte[] withoutProof = Arrays.copyOf(said, said.length - ConnectionProofs.BYTES);
        assertThat(PROOFS.ofConnecting(said, ACCEPTING)).isNotEqualTo(PROOFS.ofAccepting(said, ACCEPTING));
        assertThat(PROOFS.ofConnecting(said, ACCEPTING)).isNotEqualTo(PROOFS.ofAccepting(withoutProof, ACCEPTING));
    }

    /** Whichever bit of the preamble is changed. */
    @Test
    void everyBitIsProven() {
        byte[] preamble = preamble(PROOFS);
        for (int bit = 0; bit < preamble.length * Byte.SIZE; bit++) {
            byte[] changed = preamble.clone();
            changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            boolean malformed = read(accepting, changed) instanceof Preamble.Malformed;
            assertThat(malformed || !accepting.isProven(PROOFS, ACCEPTING))
                    .as("bit %d", bit)
                    .isTrue();
        }
        read(accepting, preamble);
        assertThat(accepting.isProven(PROOFS, ACCEPTING)).isTrue();
    }

    @Test
    void whatWasSaidOnceProvesNothingTheNextTime() {
        byte[] recorded = preamble(PROOFS);
        PreambleExchange next = new PreambleExchange();
        next.greet();
        read(next, recorded);
        assertThat(next.isProven(PROOFS, ACCEPTING)).isFalse();

        read(accepting, recorded);
        byte[] acceptance = bytes(accepting.acceptance(PROOFS, ACCEPTING));
        PreambleExchange again = new PreambleExchange();
        again.greetingSpace().put(bytes(accepting.greet()));
        again.answer(HELLO, PROOFS, ACCEPTING);
        assertThat(again.isAccepted(acceptance, PROOFS, ACCEPTING)).isFalse();
    }

    @Test
    void otherProtocolsAndVersionsAreTold() {
        byte[] preamble = preamble(PROOFS);
        preamble[8] = 99;
        assertThat(read(accepting, preamble)).asString().contains("version 99");
        preamble[0] = 'G';
        assertThat(read(accepting, preamble)).asString().contains("does not speak this protocol");

        connecting.greetingSpace().put("HTTP/1.1 400 Bad Request\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(connecting.refusal())
                .hasValueSatisfying(why -> assertThat(why).contains("protocol"));
    }
}
