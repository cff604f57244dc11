package trigon.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.routing.Bandwidth;
import trigon.routing.Path;
import trigon.routing.Reason;
import trigon.transport.path.PathCapacity;
import trigon.transport.path.PathRole;
import trigon.transport.testsupport.TestPaths;
import trigon.verbs.LinkKind;

class MessageProtocolTest {

    private static final long MIB = 1L << 20;

    @Test
    void aSendQueueTakesTheLongestMessageWhateverThePeersPortCarries() {
        for (long own : new long[] {8 * MIB, 64 * MIB, 1L << 30, 1L << 31}) {
            PathCapacity capacity = MessageProtocol.RENDEZVOUS.capacity(PathRole.SENDER, own);

            MessageProtocol.RENDEZVOUS.requireFitting(PathRole.SENDER, capacity.sendQueueDepth(), own);
            MessageProtocol.RENDEZVOUS.requireFitting(PathRole.SENDER, capacity.sendQueueDepth(), 8 * MIB);
        }
    }

    @Test
    void refusesAPeerToWhichALongMessageCouldNeverBeSent() {
        for (MessageProtocol protocol : MessageProtocol.values()) {
            int depth = protocol.capacity(PathRole.SENDER, 8 * MIB).sendQueueDepth();

            assertThatThrownBy(() -> protocol.requireFitting(PathRole.SENDER, depth, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 bytes")
                    .hasMessageContaining("max_msg_sz");
        }
    }

    @Test
    void softwareLinksHoldMessagesBackUnlessThereAreSeveralQueuePairs() {
        assertThat(MessageProtocol.on(LinkKind.SOFTWARE, false)).isEqualTo(MessageProtocol.EAGER);
        assertThat(MessageProtocol.on(LinkKind.SOFTWARE, true)).isEqualTo(MessageProtocol.RENDEZVOUS);
        assertThat(MessageProtocol.on(LinkKind.RDMA, false)).isEqualTo(MessageProtocol.RENDEZVOUS);
        assertThat(MessageProtocol.on(LinkKind.RDMA, true)).isEqualTo(MessageProtocol.RENDEZVOUS);
    }

    @Test
    void nothingGoesThroughARelayByRdmaWrite() {
        Path direct = TestPaths.cable(1);
        Reason through = new Reason.Relayed(List.of("c"), Bandwidth.NOT_TOLD, 0);
        Path relayed = TestPaths.over(1, "10.0.1.1/24", "10.0.2.2/24", through);

        assertThat(MessageProtocol.RENDEZVOUS.mayTake(direct)).isTrue();
        assertThat(MessageProtocol.RENDEZVOUS.mayTake(relayed)).isTrue();
        assertThat(MessageProtocol.RENDEZVOUS.over(relayed)).isEqualTo(MessageProtocol.EAGER);
        assertThat(MessageProtocol.RENDEZVOUS.over(direct)).isEqualTo(MessageProtocol.RENDEZVOUS);
        assertThat(MessageProtocol.EAGER.over(direct)).isEqualTo(MessageProtocol.EAGER);
        assertThat(MessageProtocol.EAGER.mayTake(relayed)).isTrue();
    }

    @Test
    void aPeerMayOfferNoOtherProtocolThanTheLinkCarries() {
        assertThat(MessageProtocol.RENDEZVOUS.offered(LinkKind.SOFTWARE, true)).isEqualTo(MessageProtocol.EAGER);
        assertThat(MessageProtocol.RENDEZVOUS.offered(LinkKind.SOFTWARE, false)).isEqualTo(MessageProtocol.RENDEZVOUS);
        assertThat(MessageProtocol.RENDEZVOUS.offered(LinkKind.RDMA, false)).isEqualTo(MessageProtocol.RENDEZVOUS);
        assertThat(MessageProtocol.EAGER.offered(LinkKind.SOFTWARE, true)).isEqualTo(MessageProtocol.EAGER);
        assertThatThrownBy(() -> MessageProtocol.RENDEZVOUS.offered(LinkKind.RDMA, true))
                .hasMessageContaining("do not go by EAGER over RDMA");
        assertThatThrownBy(() -> MessageProtocol.EAGER.offered(LinkKind.RDMA, true))
                .hasMessageContaining("do not go by EAGER over RDMA");
        assertThatThrownBy(() -> MessageProtocol.EAGER.offered(LinkKind.SOFTWARE, false))
                .hasMessageContaining("do not go by RENDEZVOUS");
    }
}
