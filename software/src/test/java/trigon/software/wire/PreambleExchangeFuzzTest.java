package trigon.software.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import trigon.system.Memory;
import trigon.testsupport.NativeBuffer;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;

/**
 * Whatever the bytes of a greeting, a preamble or an acceptance are, they are read or refused, and never believed by
 * who has a key.
 */
@Tag("fuzz")
class PreambleExchangeFuzzTest {

    private static final Gid ACCEPTING = Gid.of(InetAddress.ofLiteral("127.0.12.2"));
    private static final ConnectionProofs PROOFS =
            new ConnectionProofs(ConnectionKey.of(new byte[ConnectionKey.BYTES]));
    private static final ConnectionProofs NONE = new ConnectionProofs(null);

    @FuzzTest
    void whatIsSaidIsReadOrRefused(byte[] data) {
        accept(Arrays.copyOf(data, WireFormat.PREAMBLE_BYTES));
        connect(Arrays.copyOf(data, WireFormat.GREETING_BYTES + WireFormat.ACCEPTANCE_BYTES));
    }

    private static void accept(byte[] preamble) {
        PreambleExchange exchange = new PreambleExchange();
        exchange.greet();
        switch (read(exchange, preamble)) {
            case Preamble.Malformed malformed -> assertThat(malformed.reason()).isNotEmpty();
            case Preamble.Hello hello -> {
                assertThat(hello.toString()).doesNotContain("\n");
                PreambleExchange again = new PreambleExchange();
                byte[] answer = bytes(again.answer(hello, NONE, ACCEPTING));
                assertThat(read(again, answer)).isEqualTo(hello);
                assertThat(exchange.isProven(PROOFS, ACCEPTING)).isFalse();
            }
        }
    }

    private static void connect(byte[] said) {
        PreambleExchange exchange = new PreambleExchange();
        exchange.greetingSpace().put(said, 0, WireFormat.GREETING_BYTES);
        boolean refused = exchange.refusal().isPresent();
        assertThat(refused).isEqualTo(!Arrays.equals(said, 0, 12, bytes(new PreambleExchange().greet()), 0, 12));
        exchange.answer(new Preamble.Hello(1, 2, 3, ACCEPTING, true), PROOFS, ACCEPTING);
        byte[] acceptance = Arrays.copyOfRange(said, WireFormat.GREETING_BYTES, said.length);
        assertThat(exchange.isAccepted(acceptance, PROOFS, ACCEPTING)).isFalse();
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
}
