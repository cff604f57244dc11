package trigon.stream.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import trigon.stream.Conversation;

/** Whatever a relay is asked for, and whatever it answers, is read or refused; nobody is admitted without a proof. */
@Tag("fuzz")
class CircuitFuzzTest {

    private static final CircuitKeys KEYS = new CircuitKeys(Optional.of(new byte[] {7}));
    private static final byte[] GREETING = CircuitFormat.greeting(new byte[CircuitFormat.NONCE_BYTES]);
    private static final CircuitRequest REQUEST =
            new CircuitRequest(List.of(new java.net.InetSocketAddress("127.0.12.2", 1)));

    /** The first byte says whose words the rest is: an end's or a relay's. */
    @FuzzTest
    void whatIsSaidIsReadOrRefused(byte[] data) {
        if (data.length == 0) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(data, 1, data.length);
        if ((data[0] & 1) == 0) {
            ask(rest);
        } else {
            answer(ByteBuffer.wrap(rest));
        }
    }

    private static void ask(byte[] said) {
        byte[] header = Arrays.copyOf(said, CircuitFormat.HEADER_BYTES);
        int more = CircuitRequest.bytesAfter(header);
        if (more < 0) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(said, Math.min(said.length, header.length), header.length + more);
        CircuitRequest.decode(GREETING, header, rest, KEYS).ifPresent(read -> {
            assertThat(read.admitted()).isFalse();
            checkProven(read.request());
        });
    }

    /** What was read is admitted once it is proven, and is the same then. */
    private static void checkProven(CircuitRequest request) {
        byte[] all = request.encode(GREETING, KEYS);
        byte[] header = Arrays.copyOf(all, CircuitFormat.HEADER_BYTES);
        byte[] rest = Arrays.copyOfRange(all, header.length, all.length);
        assertThat(CircuitRequest.bytesAfter(header)).isEqualTo(rest.length);
        assertThat(CircuitRequest.decode(GREETING, header, rest, KEYS))
                .contains(new CircuitRequest.Received(request, true));
        assertThat(request.rest().map(CircuitRequest::hops).orElse(List.of()))
                .isEqualTo(request.hops().subList(1, request.hops().size()));
    }

    private static void answer(ByteBuffer said) {
        CircuitOpening opening = new CircuitOpening(REQUEST, KEYS);
        while (said.remaining() >= opening.expected().remaining()) {
            ByteBuffer expected = opening.expected();
            expected.put(said.slice(said.position(), expected.remaining()));
            said.position(said.position() + expected.capacity());
            switch (opening.next()) {
                case Conversation.Step.NotOpened(var _, String why) -> {
                    assertThat(why).isNotEmpty().doesNotContainPattern("[\\p{Cc}\\p{Cf}]");
                    return;
                }
                case Conversation.Step.Open _ -> {
                    return;
                }
                case Conversation.Step.Refused _ -> throw new AssertionError("a relay does not refuse for the end");
                case Conversation.Step.Send _, Conversation.Step.Read _ -> {}
            }
        }
    }
}
