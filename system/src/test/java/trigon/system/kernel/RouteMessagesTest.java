package trigon.system.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RouteMessagesTest {

    private static final int DEVICE = 4;

    @Test
    void theLoopbackHasNoGateway() {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");
        assertThat(KernelRoutes.hasGateway(here, InetAddress.ofLiteral("127.0.0.2")))
                .contains(false);
    }

    /** The kernel answers with an error: nobody has that address. */
    @Test
    void aRouteFromAnotherMachinesAddressIsNone() {
        InetAddress other = InetAddress.ofLiteral("192.0.2.77");
        assertThat(KernelRoutes.hasGateway(other, InetAddress.ofLiteral("192.0.2.78")))
                .isEmpty();
    }

    @Test
    void aRouteByAGatewayHasOne() {
        assertThat(RouteMessages.hasGateway(answer(DEVICE))).contains(false);
        assertThat(RouteMessages.hasGateway(answer(DEVICE, RouteMessages.RTA_GATEWAY)))
                .contains(true);
        assertThat(RouteMessages.hasGateway(answer(RouteMessages.RTA_VIA, DEVICE)))
                .contains(true);
    }

    @Test
    void anErrorAndACutAnswerHaveNoRoute() {
        ByteBuffer error = answer(DEVICE);
        error.putShort(4, (short) 2);
        assertThat(RouteMessages.hasGateway(error)).isEmpty();
        assertThat(RouteMessages.hasGateway(ByteBuffer.allocate(7))).isEmpty();
        ByteBuffer longer = answer(DEVICE);
        longer.putShort(NetlinkMessages.HEADER_BYTES + RouteMessages.ROUTE_BYTES, (short) 4000);
        assertThat(RouteMessages.hasGateway(longer)).isEmpty();
    }

    @Test
    void anyBytesAreReadWithoutHarm() {
        Random random = new Random(45);
        int routes = 0;
        for (int i = 0; i < 100_000; i++) {
            ByteBuffer answer = answer(random.nextInt(40), random.nextInt(40));
            for (int changes = random.nextInt(4); changes > 0; changes--) {
                answer.put(random.nextInt(answer.limit()), (byte) random.nextInt());
            }
            answer.limit(random.nextInt(answer.limit() + 1));
            routes += RouteMessages.hasGateway(answer).isPresent() ? 1 : 0;
        }
        assertThat(routes).isBetween(1, 99_999);
    }

    private static ByteBuffer answer(int... attributes) {
        int length = NetlinkMessages.HEADER_BYTES + RouteMessages.ROUTE_BYTES + attributes.length * 8;
        ByteBuffer message = ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
        message.putInt(length).putShort((short) RouteMessages.NEW_ROUTE);
        message.position(NetlinkMessages.HEADER_BYTES + RouteMessages.ROUTE_BYTES);
        for (int kind : attributes) {
            message.putShort((short) 8).putShort((short) kind).putInt(7);
        }
        return message.flip();
    }
}
