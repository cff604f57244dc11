package trigon.transport.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.system.Memory;
import trigon.transport.testsupport.LaneVerbs;

@Timeout(60)
class GateTest {

    private final RequestTable table = RequestTable.unseen(LaneVerbs.FUNCTIONS);
    private final Requests requests = table.open(1L << 32);
    private final Gate gate = requests.gate();

    @AfterEach
    void close() {
        table.close();
    }

    private int word() {
        return Memory.getIntVolatile(requests.row() + RequestRow.GATE);
    }

    @Test
    void isJavasAloneAtFirst() {
        assertThat(word()).isEqualTo(Gate.ASK);
        assertThat(gate.enter()).isTrue();
        gate.leave();
    }

    @Test
    void opensToTheLibraryUntilSomebodyAsks() {
        gate.openToLibrary();
        assertThat(word()).isEqualTo(Gate.OPEN);
        gate.ask();
        assertThat(word()).isEqualTo(Gate.ASK);
        gate.ask();
        assertThat(word()).isEqualTo(Gate.ASK);
    }

    @Test
    void nobodyOpensAGateThatIsShutButWhoHasShutIt() {
        gate.openToLibrary();
        gate.close();
        gate.ask();
        gate.openToLibrary();

        assertThat(word()).isEqualTo(Gate.FENCED);
        assertThat(gate.enter()).isFalse();
        gate.open(false);
        assertThat(word()).isEqualTo(Gate.ASK);
        assertThat(gate.enter()).isTrue();
    }

    @Test
    void isShutOnlyOnceNobodyIsInside() throws Exception {
        assertThat(gate.enter()).isTrue();
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean inside = new AtomicBoolean(true);
        AtomicBoolean wasInside = new AtomicBoolean();
        Thread control = Thread.ofPlatform().start(() -> {
            begun.countDown();
            gate.close();
            wasInside.set(inside.get());
        });
        begun.await();
        while (word() != Gate.FENCED) {
            Thread.onSpinWait();
        }

        inside.set(false);
        gate.leave();
        control.join();

        assertThat(wasInside).isFalse();
    }
}
