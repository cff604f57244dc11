package trigon.system.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RouteMessagesTest {

    @Test
    void theLoopbackHasNoGateway() {
        InetAddress here = InetAddress.ofLiteral("127.0.0.1");

        assertThat(KernelRoutes.withRule(here, InetAddress.ofLiteral("127.0.0.2")))
                .hasValueSatisfying(route -> {
                    assertThat(route.hasGateway()).isFalse();
                    assertThat(route.isLocal()).isTrue();
                    assertThat(route.interfaceIndex()).isEqualTo(1);
                });
    }

    /** The kernel answers with an error: nobody has that address. */
    @Test
    void aRouteFromAnotherMachinesAddressIsNone() {
        InetAddress other = InetAddress.ofLiteral("192.0.2.77");
        assertThat(KernelRoutes.between(other, InetAddress.ofLiteral("192.0.2.78")))
                .isEmpty();
    }

    @Test
    void aRouteByAGatewayHasOne() {
        assertThat(hasGateway(answer(RouteMessages.RTA_OIF))).isFalse();
        assertThat(hasGateway(answer(RouteMessages.RTA_OIF, RouteMessages.RTA_GATEWAY)))
                .isTrue();
        assertThat(hasGateway(answer(RouteMessages.RTA_VIA, RouteMessages.RTA_OIF)))
                .isTrue();
    }

    private static boolean hasGateway(ByteBuffer answer) {
        return RouteMessages.route(answer).orElseThrow().hasGateway();
    }

    @Test
    void anErrorAndACutAnswerHaveNoRoute() {
        ByteBuffer error = answer(RouteMessages.RTA_OIF);
        error.putShort(4, (short) 2);
        assertThat(RouteMessages.route(error)).isEmpty();
        assertThat(RouteMessages.route(ByteBuffer.allocate(7))).isEmpty();
        ByteBuffer longer = answer(RouteMessages.RTA_OIF);
        longer.putShort(NetlinkMessages.HEADER_BYTES + RouteMessages.ROUTE_BYTES, (short) 4000);
        assertThat(RouteMessages.route(longer)).isEmpty();
    }

    /** Rules for other sources, and those of other tables, are none of a route's. */
    @Test
    void theFirstRuleThatLeadsToATableIsNamed() {
        InetAddress from = InetAddress.ofLiteral("10.0.0.1");
        List<ByteBuffer> rules = List.of(
                rule(100, 52, "10.0.0.2"), rule(300, 52, "10.0.0.0"), rule(5270, 52, "10.0.0.1"), rule(32766, 254, ""));

        assertThat(RuleMessages.preference(rules, 52, from, InetAddress.ofLiteral("10.0.0.9")))
                .hasValue(5270);
        assertThat(RuleMessages.preference(rules, 254, from, from)).hasValue(32766);
        assertThat(RuleMessages.preference(rules, 7, from, from)).isEmpty();
    }

    private static ByteBuffer rule(int preference, int table, String source) {
        byte[] fixed = new byte[RuleMessages.RULE_BYTES];
        byte[] address =
                source.isEmpty() ? new byte[0] : InetAddress.ofLiteral(source).getAddress();
        fixed[2] = (byte) (address.length * Byte.SIZE);
        return message(
                RuleMessages.NEW_RULE,
                fixed,
                RouteAttributes.attribute(RuleMessages.FRA_PRIORITY, number(preference)),
                RouteAttributes.attribute(RuleMessages.FRA_TABLE, number(table)),
                address.length == 0 ? address : RouteAttributes.attribute(RuleMessages.FRA_SRC, address));
    }

    @Test
    void aNeighbourHasHardwareUntilItNoLongerAnswers() {
        assertThat(KernelNeighbours.neighbour(neighbour(2, (byte) 2, (byte) 66))
                        .orElseThrow()
                        .hardware())
                .contains("02:42");
        assertThat(KernelNeighbours.neighbour(neighbour(KernelNeighbours.FAILED, (byte) 2))
                        .orElseThrow()
                        .hardware())
                .isEmpty();
        assertThat(KernelNeighbours.neighbour(neighbour(0x40, (byte) 2))).isEmpty();
    }

    /** On the loopback nobody is asked for hardware. */
    @Test
    void theLoopbackHasNoNeighbours() {
        assertThat(KernelNeighbours.at(InetAddress.ofLiteral("127.0.0.77"), 1)).isEmpty();
    }

    private static ByteBuffer neighbour(int state, byte... hardware) {
        byte[] fixed = new byte[KernelNeighbours.NEIGHBOUR_BYTES];
        fixed[8] = (byte) state;
        return message(
                KernelNeighbours.NEW_NEIGHBOUR,
                fixed,
                RouteAttributes.attribute(KernelNeighbours.NDA_LLADDR, hardware));
    }

    private static ByteBuffer message(int type, byte[] fixed, byte[]... attributes) {
        return ByteBuffer.wrap(RouteAttributes.request(type, 0, fixed, attributes))
                .order(ByteOrder.nativeOrder());
    }

    private static byte[] number(int value) {
        return ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(value)
                .array();
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
            routes += RouteMessages.route(answer).isPresent() ? 1 : 0;
        }
        assertThat(routes).isBetween(1, 99_999);
    }

    private static ByteBuffer answer(int... kinds) {
        byte[][] attributes = new byte[kinds.length][];
        for (int i = 0; i < kinds.length; i++) {
            attributes[i] = RouteAttributes.attribute(kinds[i], number(7));
        }
        return message(RouteMessages.NEW_ROUTE, new byte[RouteMessages.ROUTE_BYTES], attributes);
    }
}
