package trigon.stream.circuit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import trigon.stream.Conversation.Step;
import trigon.stream.RefusalCause;

class CircuitOpeningTest {

    private static final CircuitKeys CLUSTER = new CircuitKeys(Optional.of(new byte[] {1, 2, 3}));
    private static final CircuitRequest REQUEST =
            new CircuitRequest(List.of(at("10.0.23.3", 7000), at("fd00::4", 65535)));

    private final byte[] greeting = CircuitFormat.greeting(new byte[16]);

    @Test
    void aRequestIsReadAsItWasMade() {
        CircuitRequest.Received received = exchange(CLUSTER, CLUSTER, greeting, greeting);

        assertThat(received.request()).isEqualTo(REQUEST);
        assertThat(received.admitted()).isTrue();
    }

    @Test
    void anotherKeyOrNoneIsNotAdmitted() {
        CircuitKeys other = new CircuitKeys(Optional.of(new byte[] {1, 2, 4}));
        CircuitKeys none = new CircuitKeys(Optional.empty());

        assertThat(exchange(other, CLUSTER, greeting, greeting).admitted()).isFalse();
        assertThat(exchange(none, CLUSTER, greeting, greeting).admitted()).isFalse();
        assertThat(exchange(CLUSTER, none, greeting, greeting).admitted()).isFalse();
    }

    @Test
    void aRecordedRequestIsNotAdmittedAgain() {
        byte[] next = CircuitFormat.greeting(new byte[] {9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});

        assertThat(exchange(CLUSTER, CLUSTER, greeting, next).admitted()).isFalse();
    }

    @Test
    void oneCommonCommunicatorWillDo() {
        CircuitKeys here = new CircuitKeys(Optional.empty());
        CircuitKeys there = new CircuitKeys(Optional.empty());
        for (long id = 1; id <= 20; id++) {
            here.opened(id);
        }
        there.opened(19);
        there.opened(100);
        assertThat(exchange(here, there, greeting, greeting).admitted()).isTrue();

        there.closed(19);
        assertThat(exchange(here, there, greeting, greeting).admitted()).isFalse();
    }

    @Test
    void theOldestAndTheNewestOfManyCommunicatorsAreProven() {
        CircuitKeys many = new CircuitKeys(Optional.empty());
        for (long id = 1; id <= 20; id++) {
            many.opened(id);
            many.opened(id); // by another rank of the process
        }
        assertThat(many.keys(CircuitFormat.MAX_PROOFS))
                .extracting(key -> ByteBuffer.wrap(key).getLong())
                .containsExactly(1L, 2L, 3L, 4L, 17L, 18L, 19L, 20L);
        assertThat(many.keys(Integer.MAX_VALUE)).hasSize(20);

        CircuitKeys world = new CircuitKeys(Optional.empty());
        world.opened(1);
        assertThat(exchange(many, world, greeting, greeting).admitted()).isTrue();
        assertThat(exchange(world, many, greeting, greeting).admitted()).isTrue();
    }

    @Test
    void noCommunicatorIsProvenTwice() {
        for (int count = 0; count <= 12; count++) {
            CircuitKeys keys = new CircuitKeys(Optional.empty());
            for (long id = 1; id <= count; id++) {
                keys.opened(id);
            }
            assertThat(keys.isEmpty()).isEqualTo(count == 0);
            assertThat(keys.keys(CircuitFormat.MAX_PROOFS))
                    .extracting(key -> ByteBuffer.wrap(key).getLong())
                    .doesNotHaveDuplicates()
                    .hasSize(Math.min(count, CircuitFormat.MAX_PROOFS));
        }
    }

    @Test
    void goesThroughGreetingAndReply() {
        CircuitOpening opening = new CircuitOpening(REQUEST, CLUSTER);
        opening.expected().put(greeting);
        assertThat(opening.next()).isInstanceOf(Step.Send.class);
        opening.expected().put(CircuitFormat.opened());
        assertThat(opening.next()).isEqualTo(new Step.Open());
    }

    @Test
    void saysWhyItIsRefused() {
        CircuitOpening opening = new CircuitOpening(REQUEST, CLUSTER);
        opening.expected().put(greeting);
        opening.next();
        byte[] reply = CircuitFormat.refused(
                RefusalCause.FULL, "no \u001b[2Jro\u009bom\u202e"); // both ranges of control characters
        opening.expected().put(reply, 0, CircuitFormat.REPLY_BYTES);
        assertThat(opening.next()).isEqualTo(new Step.Read());
        opening.expected().put(reply, CircuitFormat.REPLY_BYTES, reply.length - CircuitFormat.REPLY_BYTES);
        assertThat(opening.next()).isEqualTo(new Step.NotOpened(RefusalCause.FULL, "no ?[2Jro?om?"));
    }

    @Test
    void takesNobodyElseForARelay() {
        for (int at : new int[] {0, 4}) {
            byte[] wrong = greeting.clone();
            wrong[at]++;
            CircuitOpening opening = new CircuitOpening(REQUEST, CLUSTER);
            opening.expected().put(wrong);
            assertThat(opening.next()).isInstanceOf(Step.NotOpened.class);
        }
    }

    @Test
    void aWayHasNoLoopAndAnEnd() {
        assertThatThrownBy(() -> new CircuitRequest(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new CircuitRequest(List.of(at("10.0.0.1", 1), at("10.0.0.1", 1))))
                .hasMessageContaining("twice");
        assertThat(REQUEST.rest()).contains(new CircuitRequest(List.of(at("fd00::4", 65535))));
        assertThat(REQUEST.rest().orElseThrow().rest()).isEmpty();
    }

    @Test
    void garbageIsNoRequest() {
        Random random = new Random(7);
        for (int i = 0; i < 200_000; i++) {
            byte[] request = REQUEST.encode(greeting, CLUSTER);
            request[random.nextInt(request.length)] ^= (byte) (1 + random.nextInt(255));
            byte[] header = Arrays.copyOf(request, CircuitFormat.HEADER_BYTES);
            int rest = CircuitRequest.bytesAfter(header);
            if (rest == request.length - header.length) {
                CircuitRequest.decode(
                                greeting, header, Arrays.copyOfRange(request, header.length, request.length), CLUSTER)
                        .ifPresent(received -> assertThat(received.admitted()).isFalse());
            }
            i += 99;
        }
    }

    private static CircuitRequest.Received exchange(CircuitKeys asks, CircuitKeys relay, byte[] heard, byte[] said) {
        byte[] request = REQUEST.encode(heard, asks);
        byte[] header = Arrays.copyOf(request, CircuitFormat.HEADER_BYTES);
        assertThat(CircuitRequest.bytesAfter(header)).isEqualTo(request.length - header.length);
        return CircuitRequest.decode(said, header, Arrays.copyOfRange(request, header.length, request.length), relay)
                .orElseThrow();
    }

    private static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }
}
