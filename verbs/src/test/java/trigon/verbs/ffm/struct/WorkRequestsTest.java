package trigon.verbs.ffm.struct;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.system.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.ffm.generated.ibv_recv_wr;
import trigon.verbs.ffm.generated.ibv_send_wr;
import trigon.verbs.ffm.generated.ibv_sge;

/** What the data path writes by offset, read through the generated accessors. */
class WorkRequestsTest {

    private static final long ID = 0x0102030405060708L;
    private static final long LOCAL = 0x7f0011223344L;
    private static final long REMOTE = 0x7eaabbccddeeL;
    private static final int LKEY = 0x80000001;
    private static final int RKEY = 0x90000002;

    private final Arena arena = Arena.ofConfined();
    private final long requests = SendWorkRequests.allocate(arena);

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void preparesSend() {
        MemorySegment request =
                sendRequest(SendWorkRequests.prepareSend(requests, ID, LOCAL, 64, LKEY, SendFlag.SIGNALED));

        assertThat(ibv_send_wr.opcode(request)).isEqualTo(2);
        assertThat(ibv_send_wr.send_flags(request)).isEqualTo(2);
        assertCommonFields(request);
    }

    @Test
    void preparesWrite() {
        MemorySegment request = sendRequest(
                SendWorkRequests.prepareWrite(requests, ID, LOCAL, 64, LKEY, REMOTE, RKEY, SendFlag.INLINE));

        assertThat(ibv_send_wr.opcode(request)).isZero();
        assertThat(ibv_send_wr.send_flags(request)).isEqualTo(8);
        assertCommonFields(request);
        assertRemote(request);
    }

    @Test
    void preparesWriteWithImmediateInNetworkOrder() {
        MemorySegment request = sendRequest(SendWorkRequests.prepareWriteWithImmediate(
                requests, ID, LOCAL, 64, LKEY, REMOTE, RKEY, 0x11223344, SendFlag.NONE));

        assertThat(ibv_send_wr.opcode(request)).isEqualTo(1);
        long immediate = request.address() + ibv_send_wr.imm_data$offset();
        assertThat(Memory.getByte(immediate)).isEqualTo((byte) 0x11);
        assertThat(Memory.getByte(immediate + 3)).isEqualTo((byte) 0x44);
        assertCommonFields(request);
        assertRemote(request);
    }

    @Test
    void hasNoElementForAnEmptyMessage() {
        MemorySegment empty = sendRequest(SendWorkRequests.prepareSend(requests, ID, 0, 0, 0, SendFlag.NONE));
        assertThat(ibv_send_wr.num_sge(empty)).isZero();

        MemorySegment next = sendRequest(SendWorkRequests.prepareSend(requests, ID, LOCAL, 64, LKEY, SendFlag.NONE));
        assertCommonFields(next);
    }

    @Test
    void preparesReceive() {
        ReceiveWorkRequest receive = new ReceiveWorkRequest(arena);
        MemorySegment request = receiveRequest(receive.prepare(ID, LOCAL, 64, LKEY));

        assertThat(ibv_recv_wr.wr_id(request)).isEqualTo(ID);
        assertThat(ibv_recv_wr.next(request).address()).isZero();
        assertThat(ibv_recv_wr.num_sge(request)).isEqualTo(1);
        assertElement(ibv_recv_wr.sg_list(request));

        request = receiveRequest(receive.prepare(ID, 0, 0, 0));
        assertThat(ibv_recv_wr.num_sge(request)).isZero();
    }

    @Test
    void hasListsOfReceivesWithoutABuffer() {
        for (int length = 1; length <= EmptyReceives.MAX; length++) {
            long address = EmptyReceives.list(length);
            for (int i = 0; i < length; i++) {
                MemorySegment request = receiveRequest(address);
                assertThat(ibv_recv_wr.wr_id(request)).isZero();
                assertThat(ibv_recv_wr.num_sge(request)).isZero();
                address = ibv_recv_wr.next(request).address();
            }
            assertThat(address).as("end of the list of %d", length).isZero();
        }
    }

    private static MemorySegment sendRequest(long address) {
        return Memory.segment(address, ibv_send_wr.sizeof());
    }

    private static MemorySegment receiveRequest(long address) {
        return Memory.segment(address, ibv_recv_wr.sizeof());
    }

    private static MemorySegment element(MemorySegment list) {
        return list.reinterpret(ibv_sge.sizeof());
    }

    private static void assertCommonFields(MemorySegment request) {
        assertThat(ibv_send_wr.wr_id(request)).isEqualTo(ID);
        assertThat(ibv_send_wr.next(request).address()).isZero();
        assertThat(ibv_send_wr.num_sge(request)).isEqualTo(1);
        assertElement(ibv_send_wr.sg_list(request));
    }

    private static void assertElement(MemorySegment list) {
        MemorySegment element = element(list);
        assertThat(ibv_sge.addr(element)).isEqualTo(LOCAL);
        assertThat(ibv_sge.length(element)).isEqualTo(64);
        assertThat(ibv_sge.lkey(element)).isEqualTo(LKEY);
    }

    private static void assertRemote(MemorySegment request) {
        MemorySegment rdma = ibv_send_wr.wr.rdma(ibv_send_wr.wr(request));
        assertThat(ibv_send_wr.wr.rdma.remote_addr(rdma)).isEqualTo(REMOTE);
        assertThat(ibv_send_wr.wr.rdma.rkey(rdma)).isEqualTo(RKEY);
    }
}
