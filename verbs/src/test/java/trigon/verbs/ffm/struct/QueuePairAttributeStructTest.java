package trigon.verbs.ffm.struct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.Gid;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.ffm.generated.ibv_ah_attr;
import trigon.verbs.ffm.generated.ibv_global_route;
import trigon.verbs.ffm.generated.ibv_qp_attr;

class QueuePairAttributeStructTest {

    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void writesThePathToThePeer() {
        Gid gid = new Gid(0xfe80_0000_0000_0000L, 0x0102_0304_0506_0708L);
        MemorySegment struct = QueuePairAttributeStruct.of(
                QueuePairAttributes.to(QueuePairStateCode.READY_TO_RECEIVE)
                        .addressVector(new AddressVector(gid, 200, 0xFFFE, 3, 104, 64, 2))
                        .pathMtu(Mtu.MTU_4096)
                        .destinationNumber(0xABCDEF)
                        .receivePsn(0x123456)
                        .maxDestinationReadAtomic(16)
                        .minRnrTimer(12)
                        .build(),
                arena);

        assertThat(ibv_qp_attr.qp_state(struct)).isEqualTo(2);
        assertThat(ibv_qp_attr.path_mtu(struct)).isEqualTo(5);
        assertThat(ibv_qp_attr.dest_qp_num(struct)).isEqualTo(0xABCDEF);
        assertThat(ibv_qp_attr.rq_psn(struct)).isEqualTo(0x123456);
        assertThat(ibv_qp_attr.max_dest_rd_atomic(struct)).isEqualTo((byte) 16);
        assertThat(ibv_qp_attr.min_rnr_timer(struct)).isEqualTo((byte) 12);
        MemorySegment vector = ibv_qp_attr.ah_attr(struct);
        assertThat(ibv_ah_attr.is_global(vector)).isEqualTo((byte) 1);
        assertThat(ibv_ah_attr.dlid(vector)).isEqualTo((short) 0xFFFE);
        assertThat(ibv_ah_attr.sl(vector)).isEqualTo((byte) 3);
        assertThat(ibv_ah_attr.port_num(vector)).isEqualTo((byte) 2);
        MemorySegment route = ibv_ah_attr.grh(vector);
        assertThat(ibv_global_route.dgid(route).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(gid.toBytes());
        assertThat(ibv_global_route.sgid_index(route)).isEqualTo((byte) 200);
        assertThat(ibv_global_route.hop_limit(route)).isEqualTo((byte) 64);
        assertThat(ibv_global_route.traffic_class(route)).isEqualTo((byte) 104);
    }

    @Test
    void writesWhatTheOtherTransitionsSet() {
        MemorySegment toInit = QueuePairAttributeStruct.of(
                QueuePairAttributes.to(QueuePairStateCode.INIT)
                        .accessFlags(Set.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ))
                        .pkeyIndex(1)
                        .port(2)
                        .build(),
                arena);
        assertThat(ibv_qp_attr.qp_access_flags(toInit)).isEqualTo(2 | 4);
        assertThat(ibv_qp_attr.pkey_index(toInit)).isEqualTo((short) 1);
        assertThat(ibv_qp_attr.port_num(toInit)).isEqualTo((byte) 2);

        MemorySegment toSend = QueuePairAttributeStruct.of(
                QueuePairAttributes.to(QueuePairStateCode.READY_TO_SEND)
                        .sendPsn(0x654321)
                        .timeout(18)
                        .retryCount(6)
                        .rnrRetry(7)
                        .maxReadAtomic(1)
                        .build(),
                arena);
        assertThat(ibv_qp_attr.sq_psn(toSend)).isEqualTo(0x654321);
        assertThat(ibv_qp_attr.timeout(toSend)).isEqualTo((byte) 18);
        assertThat(ibv_qp_attr.retry_cnt(toSend)).isEqualTo((byte) 6);
        assertThat(ibv_qp_attr.rnr_retry(toSend)).isEqualTo((byte) 7);
        assertThat(ibv_qp_attr.max_rd_atomic(toSend)).isEqualTo((byte) 1);
    }

    @Test
    void refusesAnIndexThatTheFieldCannotHold() {
        QueuePairAttributes attributes = QueuePairAttributes.to(QueuePairStateCode.READY_TO_RECEIVE)
                .addressVector(new AddressVector(new Gid(0, 1), 256, 0, 0, 0, 64, 1))
                .build();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> QueuePairAttributeStruct.of(attributes, arena))
                .withMessage("256 does not fit the 8 bits of its field");
    }
}
