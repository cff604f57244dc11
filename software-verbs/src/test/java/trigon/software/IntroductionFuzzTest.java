package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;

/** Whatever the bytes of an introduction are, they are read or refused, and never believed by who has a key. */
@Tag("fuzz")
class IntroductionFuzzTest {

    private static final Gid ACCEPTING = Gid.of(Loopback.address("127.0.12.2"));
    private static final ConnectionProofs PROOFS =
            new ConnectionProofs(ConnectionKey.of(new byte[ConnectionKey.BYTES]));
    private static final ConnectionProofs NONE = new ConnectionProofs(null);

    @FuzzTest
    void whatIsSaidIsReadOrRefused(byte[] data) {
        accept(Arrays.copyOf(data, WireFormat.PREAMBLE_BYTES));
        connect(Arrays.copyOf(data, WireFormat.GREETING_BYTES + WireFormat.ACCEPTANCE_BYTES));
    }

    private static void accept(byte[] preamble) {
        Introduction introduction = new Introduction();
        introduction.greet();
        switch (introduction.hear(preamble)) {
            case Preamble.Malformed malformed -> assertThat(malformed.reason()).isNotEmpty();
            case Preamble.Hello hello -> {
                assertThat(hello.toString()).doesNotContain("\n");
                Introduction again = new Introduction();
                byte[] answer = bytes(again.answer(hello, NONE, ACCEPTING));
                assertThat(again.hear(answer)).isEqualTo(hello);
                assertThat(introduction.isProven(PROOFS, ACCEPTING)).isFalse();
            }
        }
    }

    private static void connect(byte[] said) {
        Introduction introduction = new Introduction();
        introduction.greetingSpace().put(said, 0, WireFormat.GREETING_BYTES);
        boolean refused = introduction.refusal().isPresent();
        assertThat(refused).isEqualTo(!Arrays.equals(said, 0, 12, bytes(new Introduction().greet()), 0, 12));
        introduction.answer(new Preamble.Hello(1, 2, 3, ACCEPTING, 0), PROOFS, ACCEPTING);
        byte[] acceptance = Arrays.copyOfRange(said, WireFormat.GREETING_BYTES, said.length);
        assertThat(introduction.isAccepted(acceptance, PROOFS, ACCEPTING)).isFalse();
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
