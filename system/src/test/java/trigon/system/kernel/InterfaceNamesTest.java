package trigon.system.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class InterfaceNamesTest {

    private static final short NESTED = (short) 0x8000;
    private static final int DONE = 3;

    private final ByteBuffer part = ByteBuffer.allocate(4096).order(ByteOrder.nativeOrder());
    private final Map<String, String> found = new HashMap<>();

    private static byte[] attribute(int kind, byte[] value) {
        int length = NetlinkMessages.ATTRIBUTE_HEADER_BYTES + value.length;
        return ByteBuffer.allocate(length + 3 & -4)
                .order(ByteOrder.nativeOrder())
                .putShort((short) length)
                .putShort((short) kind)
                .put(value)
                .array();
    }

    private static byte[] text(int kind, String text) {
        return attribute(kind, (text + "\0").getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] joined(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(1024);
        for (byte[] each : parts) {
            all.put(each);
        }
        byte[] result = new byte[all.flip().remaining()];
        all.get(result);
        return result;
    }

    private void message(int type, byte... attributes) {
        int length = NetlinkMessages.HEADER_BYTES + NetlinkMessages.LINK_BYTES + attributes.length;
        int begin = part.position();
        part.putInt(length).putShort((short) type);
        part.position(begin + NetlinkMessages.HEADER_BYTES + NetlinkMessages.LINK_BYTES);
        part.put(attributes);
    }

    @Test
    void eachAlternativeNameLeadsToTheName() {
        message(NetlinkMessages.NEW_LINK, text(InterfaceNames.IFLA_IFNAME, "lo"));
        message(
                NetlinkMessages.NEW_LINK,
                joined(
                        text(InterfaceNames.IFLA_IFNAME, "ens15f0np0"),
                        attribute(
                                InterfaceNames.IFLA_PROP_LIST | NESTED,
                                joined(
                                        text(InterfaceNames.IFLA_ALT_IFNAME, "enp73s0f0np0"),
                                        text(InterfaceNames.IFLA_ALT_IFNAME, "a-name-longer-than-fifteen-bytes")))));

        InterfaceNames.read(part.flip(), found);
        assertThat(found)
                .containsOnly(
                        Map.entry("enp73s0f0np0", "ens15f0np0"),
                        Map.entry("a-name-longer-than-fifteen-bytes", "ens15f0np0"));
    }

    @Test
    void theEndHasNoNames() {
        message(DONE);

        InterfaceNames.read(part.flip(), found);

        assertThat(found).isEmpty();
    }

    @Test
    void anythingElseIsLeftOut() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            part.clear();
            message(NetlinkMessages.NEW_LINK, bytes);
            InterfaceNames.read(part.flip(), found);
        }
        assertThat(found.size()).as("seed %d", seed).isLessThan(100);
    }

    @Test
    void thisMachineCanBeAsked() {
        assertThat(InterfaceNames.alternative()).doesNotContainKey("lo");
    }
}
