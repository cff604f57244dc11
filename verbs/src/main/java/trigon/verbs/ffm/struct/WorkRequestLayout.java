package trigon.verbs.ffm.struct;

/**
 * Offsets in {@code struct ibv_send_wr}, {@code struct ibv_recv_wr} and {@code struct ibv_sge} on 64-bit Linux, and the
 * opcodes of the former. Constants, so that the data path writes fields without a look-up; {@link LayoutCheck} compares
 * them with the generated layouts.
 */
final class WorkRequestLayout {

    static final int SEND_SIZE = 128;
    static final int SEND_WR_ID = 0;
    static final int SEND_NEXT = 8;
    static final int SEND_SG_LIST = 16;
    static final int SEND_NUM_SGE = 24;
    static final int SEND_OPCODE = 28;
    static final int SEND_FLAGS = 32;
    static final int SEND_IMM_DATA = 36;
    static final int RDMA_REMOTE_ADDR = 40;
    static final int RDMA_RKEY = 48;

    static final int RECEIVE_SIZE = 32;
    static final int RECEIVE_WR_ID = 0;
    static final int RECEIVE_NEXT = 8;
    static final int RECEIVE_SG_LIST = 16;
    static final int RECEIVE_NUM_SGE = 24;

    static final int SGE_SIZE = 16;
    static final int SGE_ADDR = 0;
    static final int SGE_LENGTH = 8;
    static final int SGE_LKEY = 12;

    static final int OPCODE_RDMA_WRITE = 0;
    static final int OPCODE_RDMA_WRITE_WITH_IMM = 1;
    static final int OPCODE_SEND = 2;
    static final int OPCODE_SEND_WITH_IMM = 3;

    private WorkRequestLayout() {}
}
