package trigon.verbs.ffm.struct;

import java.util.ArrayList;
import java.util.List;
import trigon.verbs.WorkCompletions;
import trigon.verbs.ffm.generated.Verbs;
import trigon.verbs.ffm.generated.ibv_recv_wr;
import trigon.verbs.ffm.generated.ibv_send_wr;
import trigon.verbs.ffm.generated.ibv_sge;
import trigon.verbs.ffm.generated.ibv_wc;

/**
 * Compares the constants of the data path with the bindings generated from the header, so that bindings of another
 * header, or another platform's layout, are noticed before the first work request and not by it.
 */
public final class LayoutCheck {

    private final List<String> found = new ArrayList<>();

    LayoutCheck() {}

    /** One line for each constant that differs, with both numbers. Needs libibverbs, for the opcodes. */
    public static List<String> mismatches() {
        LayoutCheck check = new LayoutCheck();
        check.compareStructs();
        check.compareOpcodes();
        return check.found();
    }

    /** The mismatches so far. */
    List<String> found() {
        return List.copyOf(found);
    }

    /** All but the opcodes; works where there is no libibverbs. */
    void compareStructs() {
        compareSendWorkRequest();
        compareReceiveWorkRequest();
        compareWorkCompletion();
    }

    private void compareSendWorkRequest() {
        compare("sizeof ibv_send_wr", WorkRequestLayout.SEND_SIZE, ibv_send_wr.sizeof());
        compare("ibv_send_wr.wr_id", WorkRequestLayout.SEND_WR_ID, ibv_send_wr.wr_id$offset());
        compare("ibv_send_wr.next", WorkRequestLayout.SEND_NEXT, ibv_send_wr.next$offset());
        compare("ibv_send_wr.sg_list", WorkRequestLayout.SEND_SG_LIST, ibv_send_wr.sg_list$offset());
        compare("ibv_send_wr.num_sge", WorkRequestLayout.SEND_NUM_SGE, ibv_send_wr.num_sge$offset());
        compare("ibv_send_wr.opcode", WorkRequestLayout.SEND_OPCODE, ibv_send_wr.opcode$offset());
        compare("ibv_send_wr.send_flags", WorkRequestLayout.SEND_FLAGS, ibv_send_wr.send_flags$offset());
        compare("ibv_send_wr.imm_data", WorkRequestLayout.SEND_IMM_DATA, ibv_send_wr.imm_data$offset());
        long rdma = ibv_send_wr.wr$offset() + ibv_send_wr.wr.rdma$offset();
        compare(
                "ibv_send_wr.wr.rdma.remote_addr",
                WorkRequestLayout.RDMA_REMOTE_ADDR,
                rdma + ibv_send_wr.wr.rdma.remote_addr$offset());
        compare("ibv_send_wr.wr.rdma.rkey", WorkRequestLayout.RDMA_RKEY, rdma + ibv_send_wr.wr.rdma.rkey$offset());
    }

    private void compareReceiveWorkRequest() {
        compare("sizeof ibv_recv_wr", WorkRequestLayout.RECEIVE_SIZE, ibv_recv_wr.sizeof());
        compare("ibv_recv_wr.wr_id", WorkRequestLayout.RECEIVE_WR_ID, ibv_recv_wr.wr_id$offset());
        compare("ibv_recv_wr.next", WorkRequestLayout.RECEIVE_NEXT, ibv_recv_wr.next$offset());
        compare("ibv_recv_wr.sg_list", WorkRequestLayout.RECEIVE_SG_LIST, ibv_recv_wr.sg_list$offset());
        compare("ibv_recv_wr.num_sge", WorkRequestLayout.RECEIVE_NUM_SGE, ibv_recv_wr.num_sge$offset());
        compare("sizeof ibv_sge", WorkRequestLayout.SGE_SIZE, ibv_sge.sizeof());
        compare("ibv_sge.addr", WorkRequestLayout.SGE_ADDR, ibv_sge.addr$offset());
        compare("ibv_sge.length", WorkRequestLayout.SGE_LENGTH, ibv_sge.length$offset());
        compare("ibv_sge.lkey", WorkRequestLayout.SGE_LKEY, ibv_sge.lkey$offset());
    }

    private void compareWorkCompletion() {
        compare("sizeof ibv_wc", WorkCompletions.STRIDE, ibv_wc.sizeof());
        compare("ibv_wc.wr_id", WorkCompletions.WR_ID_OFFSET, ibv_wc.wr_id$offset());
        compare("ibv_wc.status", WorkCompletions.STATUS_OFFSET, ibv_wc.status$offset());
        compare("ibv_wc.opcode", WorkCompletions.OPCODE_OFFSET, ibv_wc.opcode$offset());
        compare("ibv_wc.vendor_err", WorkCompletions.VENDOR_ERROR_OFFSET, ibv_wc.vendor_err$offset());
        compare("ibv_wc.byte_len", WorkCompletions.BYTE_LENGTH_OFFSET, ibv_wc.byte_len$offset());
        compare("ibv_wc.imm_data", WorkCompletions.IMMEDIATE_OFFSET, ibv_wc.imm_data$offset());
        compare("ibv_wc.qp_num", WorkCompletions.QUEUE_PAIR_NUMBER_OFFSET, ibv_wc.qp_num$offset());
        compare("ibv_wc.wc_flags", WorkCompletions.FLAGS_OFFSET, ibv_wc.wc_flags$offset());
    }

    private void compareOpcodes() {
        compare("IBV_WR_RDMA_WRITE", WorkRequestLayout.OPCODE_RDMA_WRITE, Verbs.IBV_WR_RDMA_WRITE());
        compare(
                "IBV_WR_RDMA_WRITE_WITH_IMM",
                WorkRequestLayout.OPCODE_RDMA_WRITE_WITH_IMM,
                Verbs.IBV_WR_RDMA_WRITE_WITH_IMM());
        compare("IBV_WR_SEND", WorkRequestLayout.OPCODE_SEND, Verbs.IBV_WR_SEND());
    }

    void compare(String what, long ours, long generated) {
        if (ours != generated) {
            found.add("%s is %d in the header and %d here".formatted(what, generated, ours));
        }
    }
}
