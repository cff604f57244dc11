package trigon.system.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NetlinkMessagesTest {

    private static final int RUNNING = NetlinkMessages.IFF_UP | NetlinkMessages.IFF_RUNNING;

    private final ByteBuffer datagram = ByteBuffer.allocate(4096).order(ByteOrder.nativeOrder());

    private void header(int type, int bodyBytes) {
        datagram.putInt(NetlinkMessages.HEADER_BYTES + bodyBytes)
                .putShort((short) type)
                .putShort((short) 0)
                .putInt(0)
                .putInt(0);
    }

    private void link(int type, int family, int index, int flags) {
        header(type, NetlinkMessages.LINK_BYTES);
        datagram.put((byte) family)
                .put((byte) 0)
                .putShort((short) 1)
                .putInt(index)
                .putInt(flags)
                .putInt(0);
    }

    private void address(int type, int index, int kind, byte... address) {
        int attribute = NetlinkMessages.ATTRIBUTE_HEADER_BYTES + address.length;
        header(type, NetlinkMessages.ADDRESS_BYTES + attribute);
        datagram.putInt(0)
                .putInt(index)
                .putShort((short) attribute)
                .putShort((short) kind)
                .put(address);
    }

    private List<InterfaceEvent> read() {
        return NetlinkMessages.read(datagram.flip());
    }

    @Test
    void statesAndAddressesInTheirOrder() throws Exception {
        link(NetlinkMessages.NEW_LINK, 0, 3, RUNNING);
        link(NetlinkMessages.NEW_LINK, 0, 4, NetlinkMessages.IFF_UP);
        link(NetlinkMessages.DELETE_LINK, 0, 5, RUNNING);
        address(NetlinkMessages.NEW_ADDRESS, 3, NetlinkMessages.IFA_LOCAL, (byte) 10, (byte) 0, (byte) 1, (byte) 2);
        address(NetlinkMessages.DELETE_ADDRESS, 3, NetlinkMessages.IFA_ADDRESS, new byte[16]);

        assertThat(read())
                .containsExactly(
                        new InterfaceEvent.State(3, true),
                        new InterfaceEvent.State(4, false),
                        new InterfaceEvent.State(5, false),
                        new InterfaceEvent.Address(3, InetAddress.getByName("10.0.1.2"), true),
                        new InterfaceEvent.Address(3, InetAddress.getByName("::"), false));
    }

    /** They are told of each port, with states of their own. */
    @Test
    void whatABridgeSaysOfItsPortsIsLeftOut() {
        link(NetlinkMessages.NEW_LINK, 7, 3, NetlinkMessages.IFF_UP);
        header(24, 4); // RTM_NEWROUTE
        datagram.putInt(0);

        assertThat(read()).isEmpty();
    }

    @Test
    void anythingElseIsReadToItsEndAndNoFurther() {
        Random random = new Random(5);
        for (int round = 0; round < 20_000; round++) {
            datagram.clear();
            for (int i = random.nextInt(4); i >= 0; i--) {
                link(NetlinkMessages.NEW_LINK, 0, 3, RUNNING);
                address(NetlinkMessages.NEW_ADDRESS, 3, random.nextInt(3), new byte[random.nextInt(20)]);
            }
            for (int i = random.nextInt(5); i > 0; i--) {
                datagram.put(random.nextInt(datagram.position()), (byte) random.nextInt());
            }
            datagram.limit(random.nextInt(datagram.position() + 1)).position(0);

            assertThat(NetlinkMessages.read(datagram)).hasSizeLessThan(200);
        }
    }
}
