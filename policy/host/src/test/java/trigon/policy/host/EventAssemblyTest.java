package trigon.policy.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.policy.host.OpenEvent.EndedEvent;
import trigon.trace.RecordKind;
import trigon.trace.RecordLayout;

/** Records of several threads become the events that a policy sees. */
class EventAssemblyTest {

    private static final long COMMUNICATOR = 0xc0ffee;
    private static final int COLLECTIVE = 1;
    private static final int OPERATION = 3;
    private static final int STEP = 4;
    private static final int SEND_WAIT = 9;
    private static final int RECV_WAIT = 10;
    private static final int RECV_FLUSH_WAIT = 11;

    private final List<EndedEvent> told = new ArrayList<>();
    private final EventAssembly assembly = new EventAssembly(told::add);
    private final Writer user = new Writer();
    private final Writer proxy = new Writer();

    /** Records of a thread since it was asked last. */
    private static final class Writer {
        private final ByteBuffer records =
                ByteBuffer.allocate(100 * RecordLayout.BYTES).order(ByteOrder.LITTLE_ENDIAN);

        Writer write(long time, long event, RecordKind kind, int detail, int argument, long value) {
            records.putLong(time)
                    .putLong(event)
                    .putShort((short) kind.code())
                    .putShort((short) detail)
                    .putInt(argument)
                    .putLong(value);
            return this;
        }

        Writer begin(long time, long event, int type, long parent, int argument) {
            return write(time, event, RecordKind.EVENT_START, type, argument, parent);
        }

        Writer state(long time, long event, int state) {
            return write(time, event, RecordKind.EVENT_STATE, state, 0, 0);
        }

        Writer stop(long time, long event, int type) {
            return write(time, event, RecordKind.EVENT_STOP, type, 0, 0);
        }

        void drainInto(EventAssembly assembly) {
            assembly.heard(records.duplicate().order(ByteOrder.LITTLE_ENDIAN).flip());
            records.clear();
        }
    }

    /** An all-reduce by rings, LL128, 8 channels. */
    private void collective(long time) {
        user.begin(time, 1, COLLECTIVE, 77, 0);
        detail(time, 0, 3, 4);
        detail(time, 1, 1 | 2 << 8 | 2 << 16 | 8 << 24, 4096);
        detail(time, 2, 0, 42);
        detail(time, 3, 0, COMMUNICATOR);
    }

    private void detail(long time, int index, int argument, long value) {
        user.write(time, 1, RecordKind.EVENT_DETAIL, index, argument, value);
    }

    /** An operation of channel 5, to rank 2, by pieces of 512 bytes. */
    private void operation(long time, long event) {
        proxy.begin(time, event, OPERATION, 1, 5 | 1 << 8);
        proxy.write(time, event, RecordKind.EVENT_DETAIL, 1, 1, 2 | 512L << 32);
    }

    private void caughtUp(long now) {
        proxy.drainInto(assembly); // the parent's thread comes last
        user.drainInto(assembly);
        assembly.caughtUp(now + EventAssembly.HELD_UP_NANOS);
    }

    @Test
    void aCollectiveLastsFromItsFirstMessageToItsLast() {
        collective(1_000);
        user.stop(1_100, 1, COLLECTIVE);
        operation(1_200, 2);
        proxy.begin(1_300, 3, STEP, 2, 0);
        proxy.state(2_000, 3, SEND_WAIT);
        caughtUp(2_500);
        assertThat(told).isEmpty();

        proxy.stop(3_000, 3, STEP);
        proxy.stop(3_500, 2, OPERATION);
        caughtUp(4_000);
        assertThat(told)
                .containsExactly(
                        new EndedEvent(1 << STEP, COMMUNICATOR, 3, 4, 512, 1, 1, 8, 42, 5, 2, true, 2_000, 1_000),
                        new EndedEvent(
                                1 << OPERATION, COMMUNICATOR, 3, 4, 4096, 1, 1, 8, 42, 5, 2, true, 2_000, 1_500));

        told.clear();
        caughtUp(3_500 + EventAssembly.SETTLES_NANOS);
        assertThat(told)
                .containsExactly(new EndedEvent(
                        1 << COLLECTIVE, COMMUNICATOR, 3, 4, 4096, 1, 1, 8, 42, -1, -1, false, 2_000, 1_500));
        told.clear();
        caughtUp(3_500 + 10 * EventAssembly.SETTLES_NANOS);
        assertThat(told).isEmpty();
    }

    @Test
    void anotherChannelsOperationMayBeginLater() {
        collective(1_000);
        operation(1_001, 2);
        proxy.stop(2_000, 2, OPERATION);
        operation(3_000, 4);
        caughtUp(2_000 + 2 * EventAssembly.SETTLES_NANOS);
        assertThat(told).extracting(EndedEvent::type).containsExactly(1 << OPERATION);

        long end = 2_000 + 3 * EventAssembly.SETTLES_NANOS;
        proxy.stop(end, 4, OPERATION);
        caughtUp(end + EventAssembly.SETTLES_NANOS);
        assertThat(told).last().satisfies(event -> {
            assertThat(event.type()).isEqualTo(1 << COLLECTIVE);
            assertThat(event.start() + event.duration()).isEqualTo(end);
        });
    }

    @Test
    void aReceiveLastsUntilItsMessageHasCome() {
        collective(1_000);
        operation(1_001, 2);
        proxy.begin(1_002, 3, STEP, 2, 0);
        proxy.state(1_500, 3, RECV_WAIT);
        proxy.state(2_500, 3, RECV_FLUSH_WAIT);
        proxy.stop(9_000, 3, STEP);
        caughtUp(9_000);

        assertThat(told).singleElement().satisfies(step -> {
            assertThat(step.start()).isEqualTo(1_500);
            assertThat(step.duration()).isEqualTo(1_000);
        });
    }

    @Test
    void whatHasNoBeginningIsLeftOut() {
        proxy.state(1_000, 9, SEND_WAIT);
        proxy.stop(2_000, 9, STEP);
        proxy.begin(2_000, 10, STEP, 8, 0);
        proxy.stop(2_100, 10, STEP);
        caughtUp(3_000);

        assertThat(told).singleElement().satisfies(step -> {
            assertThat(step.communicator()).isZero();
            assertThat(step.collective()).isEqualTo(-1);
        });
    }
}
