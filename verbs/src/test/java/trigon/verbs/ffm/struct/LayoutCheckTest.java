package trigon.verbs.ffm.struct;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.verbs.ffm.generated.ibv_context;
import trigon.verbs.ffm.generated.ibv_context_ops;
import trigon.verbs.ffm.generated.ibv_device_attr;
import trigon.verbs.ffm.generated.ibv_gid_entry;

class LayoutCheckTest {

    @Test
    void constantsOfTheDataPathAreThoseOfTheHeader() {
        LayoutCheck check = new LayoutCheck();

        check.compareStructs();

        assertThat(check.found()).isEmpty();
    }

    @Test
    void constantsOfDevicesAreThoseOfTheHeader() {
        LayoutCheck check = new LayoutCheck();

        long ops = ibv_context.ops$offset();
        check.compare("sizeof ibv_context", DeviceLayout.CONTEXT_SIZE, ibv_context.sizeof());
        check.compare("poll_cq", DeviceLayout.CONTEXT_POLL_CQ, ops + ibv_context_ops.poll_cq$offset());
        check.compare("post_send", DeviceLayout.CONTEXT_POST_SEND, ops + ibv_context_ops.post_send$offset());
        check.compare("post_recv", DeviceLayout.CONTEXT_POST_RECV, ops + ibv_context_ops.post_recv$offset());
        check.compare("async_fd", DeviceLayout.CONTEXT_ASYNC_FD, ibv_context.async_fd$offset());
        check.compare("sizeof ibv_device_attr", DeviceLayout.ATTRIBUTES_SIZE, ibv_device_attr.sizeof());
        check.compare("node_guid", DeviceLayout.ATTRIBUTES_NODE_GUID, ibv_device_attr.node_guid$offset());
        check.compare("max_qp_wr", DeviceLayout.ATTRIBUTES_MAX_QP_WR, ibv_device_attr.max_qp_wr$offset());
        check.compare("max_cqe", DeviceLayout.ATTRIBUTES_MAX_CQE, ibv_device_attr.max_cqe$offset());
        check.compare(
                "max_qp_rd_atom", DeviceLayout.ATTRIBUTES_MAX_QP_RD_ATOM, ibv_device_attr.max_qp_rd_atom$offset());
        check.compare("phys_port_cnt", DeviceLayout.ATTRIBUTES_PHYS_PORT_CNT, ibv_device_attr.phys_port_cnt$offset());
        check.compare("sizeof ibv_gid_entry", DeviceLayout.GID_ENTRY_SIZE, ibv_gid_entry.sizeof());
        check.compare("gid", DeviceLayout.GID_ENTRY_GID, ibv_gid_entry.gid$offset());
        check.compare("gid_index", DeviceLayout.GID_ENTRY_GID_INDEX, ibv_gid_entry.gid_index$offset());
        check.compare("port_num", DeviceLayout.GID_ENTRY_PORT_NUM, ibv_gid_entry.port_num$offset());
        check.compare("gid_type", DeviceLayout.GID_ENTRY_GID_TYPE, ibv_gid_entry.gid_type$offset());
        check.compare("ndev_ifindex", DeviceLayout.GID_ENTRY_NDEV_IFINDEX, ibv_gid_entry.ndev_ifindex$offset());

        assertThat(check.found()).isEmpty();
    }

    @Test
    void namesBothNumbersOfAMismatch() {
        LayoutCheck check = new LayoutCheck();

        check.compare("ibv_wc.wr_id", 8, 0);
        check.compare("ibv_wc.status", 8, 8);

        assertThat(check.found()).containsExactly("ibv_wc.wr_id is 0 in the header and 8 here");
    }
}
