package trigon.qpstate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;
import trigon.qpstate.QueuePairState.Name;
import trigon.system.Errno;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

class QueuePairLifecycleTest {

    private static final QueuePairParameters PARAMETERS = new QueuePairParameters(18, 6, 7, 12, 4, 5);
    private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    private static final Gid GID = new Gid(0, 0xFFFF_0A00_0102L);
    private static final QueuePairEndpoint REMOTE = new QueuePairEndpoint(0x3b4, 0x123456, GID, 0, Mtu.MTU_4096);
    private static final ConnectionKey KEY = ConnectionKey.of(new byte[ConnectionKey.BYTES]);
    private static final AddressVector ROUTE = new AddressVector(GID, 3, 0, 0, 96, 64, 1);
    private static final int SEND_PSN = 0xABCDEF;

    private final FakeQueuePair queuePair = new FakeQueuePair();
    private final QueuePairLifecycle lifecycle = new QueuePairLifecycle(queuePair, "rxe_ab", PARAMETERS);

    @Test
    void walksToReadyToSend() {
        bring(Name.READY_TO_SEND);

        assertThat(lifecycle.state()).isEqualTo(new QueuePairState.ReadyToSend(REMOTE, Mtu.MTU_1024));
        assertThat(lifecycle.queuePair()).isSameAs(queuePair);
        List<QueuePairAttributes> steps = queuePair.modifications();
        assertThat(steps)
                .extracting(QueuePairAttributes::state)
                .containsExactly(
                        QueuePairStateCode.INIT, QueuePairStateCode.READY_TO_RECEIVE, QueuePairStateCode.READY_TO_SEND);
        assertThat(steps.get(0))
                .returns(1, QueuePairAttributes::port)
                .returns(2, QueuePairAttributes::pkeyIndex)
                .returns(AccessFlag.bits(ACCESS), QueuePairAttributes::accessFlags);
        assertThat(steps.get(1))
                .returns(ROUTE, QueuePairAttributes::addressVector)
                .returns(Mtu.MTU_1024, QueuePairAttributes::pathMtu)
                .returns(0x3b4, QueuePairAttributes::destinationNumber)
                .returns(0x123456, QueuePairAttributes::receivePsn)
                .returns(5, QueuePairAttributes::maxDestinationReadAtomic)
                .returns(12, QueuePairAttributes::minRnrTimer)
                .returns(KEY, QueuePairAttributes::connectionKey);
        assertThat(steps.get(2))
                .returns(SEND_PSN, QueuePairAttributes::sendPsn)
                .returns(18, QueuePairAttributes::timeout)
                .returns(6, QueuePairAttributes::retryCount)
                .returns(7, QueuePairAttributes::rnrRetry)
                .returns(4, QueuePairAttributes::maxReadAtomic);
    }

    static Stream<Arguments> everyPair() {
        return Stream.of(Name.values()).flatMap(from -> Stream.of(Name.values()).map(to -> Arguments.of(from, to)));
    }

    @ParameterizedTest
    @MethodSource("everyPair")
    void goesWhereTheTableLeadsAndNowhereElse(Name from, Name to) {
        bring(from);
        QueuePairState before = lifecycle.state();
        int verbs = queuePair.modifications().size() + queuePair.closes();

        if (QueuePairTransition.between(from, to).isPresent()) {
            go(to);
            assertThat(lifecycle.state().name()).isEqualTo(to);
        } else if (to == Name.CLOSED || to == Name.ERROR) {
            go(to); // closing twice, and failures that come late, are no defects
            assertThat(lifecycle.state()).isSameAs(before);
            assertThat(queuePair.modifications().size() + queuePair.closes()).isEqualTo(verbs);
        } else {
            assertThatThrownBy(() -> go(to))
                    .isInstanceOfSatisfying(IllegalTransitionException.class, e -> {
                        assertThat(e.from()).isEqualTo(from);
                        assertThat(e.to()).isEqualTo(to);
                    })
                    .hasMessage("qp 0x0001a2 rxe_ab cannot go from %s to %s; legal from there: %s"
                            .formatted(from, to, QueuePairTransition.legalFrom(from)));
            assertThat(lifecycle.state()).isSameAs(before);
            assertThat(queuePair.modifications().size() + queuePair.closes()).isEqualTo(verbs);
        }
    }

    @Test
    void randomSequencesStayInTheLegalGraph() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Name[] names = Name.values();
        for (int run = 0; run < 300; run++) {
            FakeQueuePair fake = new FakeQueuePair();
            QueuePairLifecycle walked = new QueuePairLifecycle(fake, "rxe_ab", PARAMETERS);
            Name before = Name.RESET;
            for (int step = 0; step < 40; step++) {
                boolean failing = random.nextInt(10) == 0;
                if (failing) {
                    fake.failNext(new VerbsException("ibv_modify_qp", "rxe_ab", Errno.EIO, ""));
                }
                tryToGo(walked, names[random.nextInt(random.nextInt(8) == 0 ? names.length : names.length - 1)]);
                fake.failNext(null);

                Name after = walked.state().name();
                assertThat(after == before
                                || QueuePairTransition.between(before, after).isPresent())
                        .as("%s -> %s, seed %d", before, after, seed)
                        .isTrue();
                assertThat(fake.closes()).as("seed %d", seed).isEqualTo(after == Name.CLOSED ? 1 : 0);
                before = after;
            }
        }
    }

    @Test
    void aFailedVerbLeadsToErrorAndIsThrown() {
        bring(Name.INIT);
        VerbsException unreachable = new VerbsException("ibv_modify_qp", "rxe_ab", Errno.ENETUNREACH, "");
        queuePair.failNext(unreachable);

        assertThatThrownBy(() -> go(Name.READY_TO_RECEIVE)).isSameAs(unreachable);

        assertThat(lifecycle.state()).isEqualTo(new QueuePairState.Error(unreachable));
        lifecycle.close();
        assertThat(queuePair.closes()).isEqualTo(1);
    }

    @Test
    void theFirstCauseStays() {
        bring(Name.READY_TO_SEND);
        IllegalStateException first = new IllegalStateException("first");

        lifecycle.fail(first);
        lifecycle.fail(new IllegalStateException("second"));

        assertThat(lifecycle.state()).isEqualTo(new QueuePairState.Error(first));
        assertThat(queuePair.queryState()).isEqualTo(QueuePairStateCode.ERROR);
    }

    @Test
    void theFirstCauseStaysWhenResetFails() {
        bring(Name.ERROR);
        QueuePairState before = lifecycle.state();
        queuePair.failNext(new VerbsException("ibv_modify_qp", "rxe_ab", Errno.EIO, ""));

        assertThatThrownBy(lifecycle::reset).isInstanceOf(VerbsException.class);

        assertThat(lifecycle.state()).isSameAs(before);
    }

    @Test
    void failingHidesNoFailureOfItsOwn() {
        bring(Name.READY_TO_SEND);
        VerbsException verb = new VerbsException("ibv_modify_qp", "rxe_ab", Errno.EIO, "");
        queuePair.failNext(verb);
        IllegalStateException cause = new IllegalStateException("peer gone");

        lifecycle.fail(cause);

        assertThat(lifecycle.state()).isEqualTo(new QueuePairState.Error(cause));
        assertThat(cause).hasSuppressedException(verb);
    }

    @Test
    void failsInResetWithoutAVerb() {
        lifecycle.fail(new IllegalStateException("no peer"));

        assertThat(lifecycle.state().name()).isEqualTo(Name.ERROR);
        assertThat(queuePair.modifications()).isEmpty();
    }

    @Test
    void isUsedAgainAfterReset() {
        bring(Name.ERROR);
        lifecycle.reset();
        go(Name.INIT);
        go(Name.READY_TO_RECEIVE);
        go(Name.READY_TO_SEND);

        assertThat(lifecycle.state().name()).isEqualTo(Name.READY_TO_SEND);
    }

    @Test
    void closesAgainAfterAFailedClose() {
        queuePair.failNext(new VerbsException("ibv_destroy_qp", "rxe_ab", Errno.EBUSY, ""));
        assertThatThrownBy(lifecycle::close).isInstanceOf(VerbsException.class);

        lifecycle.close();
        lifecycle.close();

        assertThat(queuePair.closes()).isEqualTo(1);
        assertThat(lifecycle.state().name()).isEqualTo(Name.CLOSED);
    }

    @Test
    void logsEveryTransition() {
        Logger logger = (Logger) LoggerFactory.getLogger(QueuePairLifecycle.class);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        logger.setLevel(Level.DEBUG);
        try {
            bring(Name.READY_TO_SEND);
            lifecycle.fail(new IllegalStateException("cut"));
            queuePair.failNext(new VerbsException("ibv_modify_qp", "rxe_ab", Errno.EIO, "replace it"));
            assertThatThrownBy(lifecycle::reset).isInstanceOf(VerbsException.class);
            lifecycle.close();
        } finally {
            logger.detachAppender(appender);
            logger.setLevel(null);
        }

        assertThat(appender.list.stream().map(event -> event.getLevel() + " " + event.getFormattedMessage()))
                .containsExactly(
                        "DEBUG qp 0x0001a2 rxe_ab RESET -> INIT port 1",
                        "DEBUG qp 0x0001a2 rxe_ab INIT -> READY_TO_RECEIVE peer qp 0x0003b4 gid ::ffff:10.0.1.2 mtu"
                                + " 1024",
                        "DEBUG qp 0x0001a2 rxe_ab READY_TO_RECEIVE -> READY_TO_SEND peer qp 0x0003b4 gid"
                                + " ::ffff:10.0.1.2",
                        "DEBUG qp 0x0001a2 rxe_ab READY_TO_SEND -> ERROR peer qp 0x0003b4 gid ::ffff:10.0.1.2:"
                                + " java.lang.IllegalStateException: cut",
                        "WARN qp 0x0001a2 rxe_ab ERROR -> ERROR on the way to RESET: trigon.verbs.VerbsException:"
                                + " ibv_modify_qp failed on rxe_ab: EIO; replace it",
                        "DEBUG qp 0x0001a2 rxe_ab ERROR -> CLOSED");
    }

    @Test
    void recordsEveryTransitionInTheFlightRecorder(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("transitions.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("trigon.QueuePairTransition");
            recording.start();
            bring(Name.READY_TO_RECEIVE);
            queuePair.failNext(new VerbsException("ibv_modify_qp", "rxe_ab", Errno.EIO, ""));
            assertThatThrownBy(() -> go(Name.READY_TO_SEND)).isInstanceOf(VerbsException.class);
            recording.stop();
            recording.dump(file);
        }

        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertThat(events)
                .extracting(event -> event.getString("from") + " " + event.getString("to"))
                .containsExactly("RESET INIT", "INIT READY_TO_RECEIVE", "READY_TO_RECEIVE ERROR");
        assertThat(events).allSatisfy(event -> {
            assertThat(event.getEventType().getName()).isEqualTo("trigon.QueuePairTransition");
            assertThat(event.getString("device")).isEqualTo("rxe_ab");
            assertThat(event.getInt("number")).isEqualTo(FakeQueuePair.NUMBER);
            assertThat(event.getDuration().isNegative()).isFalse();
        });
        assertThat(events)
                .extracting(event -> event.getString("peer"))
                .containsExactly("", "qp 0x0003b4 gid ::ffff:10.0.1.2", "qp 0x0003b4 gid ::ffff:10.0.1.2");
    }

    private void bring(Name to) {
        for (Name step : path(to)) {
            go(step);
        }
    }

    private static List<Name> path(Name to) {
        return switch (to) {
            case RESET -> List.of();
            case INIT -> List.of(Name.INIT);
            case READY_TO_RECEIVE -> List.of(Name.INIT, Name.READY_TO_RECEIVE);
            case READY_TO_SEND -> List.of(Name.INIT, Name.READY_TO_RECEIVE, Name.READY_TO_SEND);
            case ERROR -> List.of(Name.INIT, Name.ERROR);
            case CLOSED -> List.of(Name.CLOSED);
        };
    }

    private void go(Name to) {
        go(lifecycle, to);
    }

    private static void go(QueuePairLifecycle walked, Name to) {
        switch (to) {
            case RESET -> walked.reset();
            case INIT -> walked.initialize(1, 2, ACCESS);
            case READY_TO_RECEIVE -> walked.readyToReceive(REMOTE, Mtu.MTU_1024, ROUTE, KEY);
            case READY_TO_SEND -> walked.readyToSend(SEND_PSN);
            case ERROR -> walked.fail(new IllegalStateException("told to"));
            case CLOSED -> walked.close();
        }
    }

    private static void tryToGo(QueuePairLifecycle walked, Name to) {
        try {
            go(walked, to);
        } catch (IllegalTransitionException | VerbsException e) {
            assertThat(e).hasMessageContaining("rxe_ab");
        }
    }
}
