package trigon.stream.hop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.testsupport.ManualClock;
import trigon.testsupport.verbs.SendFabric;
import trigon.verbs.ResourceLedger;

/** Devices that fail, and may be opened again. */
class HopDevicesTest {

    private final SendFabric fabric = TestHop.fabric();
    private final ManualClock clock = new ManualClock();
    private final HopDevices devices =
            new HopDevices(List.of(new HopPort(fabric, TestHop.LOCAL, "one", 1, TestHop.GID)), Long.MAX_VALUE, clock);
    private final HopDevices others = TestHop.devices(TestHop.fabric());

    @AfterEach
    void nothingIsLeftOpen() {
        devices.close();
        others.close();
        assertThat(fabric.ledger().outstanding()).isEmpty();
    }

    @Test
    void aDeviceThatWasResetIsOpenedAgain() throws IOException {
        assertThat(hopIsByRdma()).isTrue();
        clock.advance(PortDevice.MIN_WAIT);

        fabric.resetDevices();

        assertThat(hopIsByRdma()).as("the first hop after the reset").isTrue();
        assertThat(hopIsByRdma()).isTrue();
        assertThat(fabric.openings()).isEqualTo(2);
    }

    /** Hops end by themselves: the device may refuse those alone who open more. */
    @Test
    void hopsOfAFailedDeviceKeepIt() throws IOException {
        try (TestHop before = new TestHop(devices, devices)) {
            clock.advance(PortDevice.MIN_WAIT);
            fabric.resetDevices();
            assertThat(hopIsByRdma()).isTrue();

            assertThat(before.dialler).isPresent();
            assertThat(fabric.ledger().outstanding()).containsEntry(ResourceLedger.Kind.DEVICE_CONTEXT, 2);
        }
        assertThat(fabric.ledger().outstanding()).containsEntry(ResourceLedger.Kind.DEVICE_CONTEXT, 1);
    }

    @Test
    void aDeviceThatStaysBrokenIsTriedLessAndLessOften() throws IOException {
        assertThat(hopIsByRdma()).isTrue();
        fabric.breakDevices();
        for (int second = 0; second < 15; second++) {
            assertThat(hopIsByRdma()).isFalse();
            clock.advance(PortDevice.MIN_WAIT);
        }
        assertThat(fabric.openings()).as("at 0, 1, 3 and 7 s").isEqualTo(4);

        fabric.resetDevices();
        clock.advance(PortDevice.MAX_WAIT);
        assertThat(hopIsByRdma()).isTrue();
        clock.advance(Duration.ofNanos(PortDevice.MIN_WAIT.toNanos() - 1));
        fabric.resetDevices();
        assertThat(hopIsByRdma()).isFalse();
        clock.advance(Duration.ofNanos(1));
        assertThat(hopIsByRdma()).as("after the first wait again").isTrue();
    }

    /** Another opening would not help, and cost the others their device. */
    @Test
    void memoryThatMayNotBeLockedIsNoFailure() throws IOException {
        assertThat(hopIsByRdma()).isTrue();
        fabric.limitMemory(100_000);
        clock.advance(PortDevice.MIN_WAIT);
        assertThat(hopIsByRdma()).isFalse();

        assertThat(fabric.openings()).isEqualTo(1);
    }

    private boolean hopIsByRdma() throws IOException {
        try (TestHop hop = new TestHop(devices, devices)) {
            return hop.dialler.isPresent();
        }
    }
}
