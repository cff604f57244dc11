package trigon.entry.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import trigon.nccl.DeviceProperties;

/** The numbers are those of NCCL's headers. */
class PropertiesLayoutTest {

    private static final DeviceProperties DEVICE = new DeviceProperties(
            "mlx5_0", "/sys/devices/pci0000:00/0000:00:01.0", 0x1234_5678_9abcL, 1, 200_000, 2, 1.5f, 64, 1, 1 << 30);

    @Test
    void hasTheSizesOfNcclsHeaders() {
        assertThat(PropertiesLayout.V8.bytes()).isEqualTo(64);
        assertThat(PropertiesLayout.V9.bytes()).isEqualTo(104);
        assertThat(PropertiesLayout.V11.bytes()).isEqualTo(112);
        assertThat(PropertiesLayout.V12.bytes()).isEqualTo(128);
    }

    @Test
    void hasTheLastOffsetsOfNcclsHeaders() {
        assertThat(PropertiesLayout.V8.netDeviceVersion()).isEqualTo(56);
        assertThat(PropertiesLayout.V9.maxCollBytes()).isEqualTo(96);
        assertThat(PropertiesLayout.V11.maxMultiRequestSize()).isEqualTo(104);
        assertThat(PropertiesLayout.V12.maxP2pBytes()).isEqualTo(104);
        assertThat(PropertiesLayout.V12.planeId()).isEqualTo(126);
    }

    @Test
    void knowsNoOtherVersion() {
        assertThat(PropertiesLayout.of(10)).isEqualTo(PropertiesLayout.V9);
        assertThatThrownBy(() -> PropertiesLayout.of(7)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @EnumSource
    void writesEveryByteAndNoMore(PropertiesLayout layout) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(160, 8).fill((byte) 0xa5);
            PropertiesWriter writer = new PropertiesWriter();

            writer.write(layout, struct.address(), 3, DEVICE);
            byte[] once = struct.asSlice(0, layout.bytes()).toArray(ValueLayout.JAVA_BYTE);
            assertThat(struct.asSlice(layout.bytes()).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0xa5);

            struct.fill((byte) 0x5a);
            writer.write(layout, struct.address(), 3, DEVICE);
            assertThat(struct.asSlice(0, layout.bytes()).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(once);
        }
    }

    @Test
    void writesWhatNcclReads() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(128, 8).fill((byte) 0xa5);
            new PropertiesWriter().write(PropertiesLayout.V12, struct.address(), 3, DEVICE);

            assertThat(string(struct.get(ValueLayout.JAVA_LONG, 0))).isEqualTo("mlx5_0");
            assertThat(string(struct.get(ValueLayout.JAVA_LONG, 8))).isEqualTo(DEVICE.pciPath());
            assertThat(struct.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(0x1234_5678_9abcL);
            assertThat(struct.get(ValueLayout.JAVA_INT, 36)).isEqualTo(200_000);
            assertThat(struct.get(ValueLayout.JAVA_FLOAT, 44)).isEqualTo(1.5f);
            assertThat(struct.get(ValueLayout.JAVA_INT, 56)).isZero();
            assertThat(struct.get(ValueLayout.JAVA_INT, 64)).isEqualTo(1);
            assertThat(struct.get(ValueLayout.JAVA_INT, 68)).isEqualTo(3);
            assertThat(struct.get(ValueLayout.JAVA_LONG, 104)).isEqualTo(1 << 30);
            assertThat(struct.get(ValueLayout.JAVA_SHORT, 124)).isEqualTo((short) -1);
            assertThat(struct.get(ValueLayout.JAVA_SHORT, 126)).isEqualTo((short) -1);
        }
    }

    @Test
    void givesNcclNoPathWhereThereIsNone() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(64, 8).fill((byte) 0xa5);
            DeviceProperties software = new DeviceProperties("software0", "", 1, 1, 1, 1, 1, 1, 1, 1);
            new PropertiesWriter().write(PropertiesLayout.V8, struct.address(), 0, software);

            assertThat(struct.get(ValueLayout.JAVA_LONG, 8)).isZero();
        }
    }

    private static String string(long address) {
        return MemorySegment.ofAddress(address).reinterpret(256).getString(0);
    }
}
