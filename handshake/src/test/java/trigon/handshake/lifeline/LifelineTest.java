package trigon.handshake.lifeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.handshake.CapturedLog;
import trigon.handshake.Lifeline;
import trigon.handshake.LifelineEnd;
import trigon.handshake.Node;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.RawPeer;
import trigon.handshake.connect.FuzzedLink;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** What the TCP connection of a finished handshake tells of the peer. */
@Timeout(180)
class LifelineTest {

    private static final Duration SILENCE = Duration.ofSeconds(3);

    private static final Duration BEAT = Duration.ofNanos(SilenceClock.BEAT_NANOS);
    private static final Duration GROUP_BEAT = Duration.ofNanos(Lifelines.HURRIED_NANOS);

    private final ManualClock clock = new ManualClock();
    private final Node server = new Node("127.0.0.1", Node.LONG, 1, Optional.empty(), SILENCE, clock);
    private final Node client = new Node("127.0.0.2", Node.LONG, 1, Optional.empty(), SILENCE, clock);
    private final ConnectionId connection = ConnectionId.random();

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void twoEndsThatLiveStayConnectedThoughNothingElseIsSaid() throws Exception {
        Ends ends = establish();

        passInPeace(2 * SILENCE.toSeconds(), List.of(ends.atClient(), ends.atServer()));

        assertThat(ends.atClient().lost()).isNotDone();
        assertThat(ends.atServer().lost()).isNotDone();
        ends.atClient().release();
        assertThat(end(ends.atServer())).isEqualTo(new LifelineEnd.Released());
        assertThat(end(ends.atClient())).isEqualTo(new LifelineEnd.Here());
    }

    @Test
    void anEndThatFailsTellsTheOtherWhy() throws Exception {
        Ends ends = establish();

        ends.atServer().fail(failure("work request 3 failed\nWARN forged"));
        ends.atServer().fail(failure("something else"));

        assertThat(end(ends.atClient()))
                .isEqualTo(new LifelineEnd.Failed(failure("work request 3 failed WARN forged")));
        assertThat(end(ends.atServer())).isEqualTo(new LifelineEnd.Here());
    }

    @Test
    void aProcessThatClosesItsHandshakesTellsItsPeers() throws Exception {
        Ends ends = establish();

        client.close();

        assertThat(end(ends.atServer())).isEqualTo(new LifelineEnd.Released());
        assertThat(end(ends.atClient())).isEqualTo(new LifelineEnd.Here());
    }

    @Test
    void aPeerThatSaysNothingIsLost() throws Exception {
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer);

            Await.until("the end", () -> {
                pass(BEAT, server);
                return lifeline.lost().isDone();
            });

            assertThat(end(lifeline))
                    .isInstanceOfSatisfying(
                            LifelineEnd.Silent.class,
                            silent -> assertThat(silent.silence()).isGreaterThan(SILENCE));
            peer.readToTheEnd();
        }
    }

    /** The kernel of this machine has the peer's end of the connection, and answers for it. */
    @Test
    void aPeerWhoseKernelAnswersIsStoppedAndNotLost() throws Exception {
        Duration stopped = SILENCE.multipliedBy(5);
        try (Node patient = new Node("127.0.0.3", Node.LONG, 1, Optional.empty(), SILENCE, stopped, clock);
                RawPeer peer = RawPeer.connectingTo(patient.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer, patient);

            for (Duration silent = BEAT; silent.compareTo(stopped) <= 0; silent = silent.plus(BEAT)) {
                assertThat(lifeline.lost()).as("after %s", silent).isNotDone();
                pass(BEAT, patient);
            }
            Await.until("the end", () -> {
                pass(BEAT, patient);
                return lifeline.lost().isDone();
            });

            assertThat(end(lifeline))
                    .isInstanceOfSatisfying(
                            LifelineEnd.Stopped.class,
                            end -> assertThat(end.silence()).isGreaterThan(stopped));
        }
    }

    @Test
    void aPeerThatIsStoppedIsNamedOnceAndOnceMoreWhenItAnswers() throws Exception {
        Duration stopped = SILENCE.multipliedBy(20);
        CapturedLog log = new CapturedLog();
        log.start();
        try (Node patient = new Node("127.0.0.3", Node.LONG, 1, Optional.empty(), SILENCE, stopped, clock);
                RawPeer peer = RawPeer.connectingTo(patient.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer, patient);

            for (int beat = 0; beat < 20; beat++) {
                pass(BEAT, patient);
            }
            peer.send(peer.provenAfterwards(new Alive(1)));
            Await.until("a sign of life", lifeline::isHeard);
            patient.settle();
        } finally {
            log.stop();
        }
        assertThat(log.lines().stream().filter(line -> line.contains("the process on")))
                .satisfiesExactly(
                        line -> assertThat(line).contains("WARN", "does not answer, though its kernel does"),
                        line -> assertThat(line).contains("INFO", "answers again"));
    }

    @Test
    void aPeerThatIsKilledIsLostAtOnce() throws Exception {
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer);

            peer.socket().setSoLinger(true, 0); // a reset, as when data are left unread
            peer.socket().close();

            assertThat(end(lifeline)).isInstanceOf(LifelineEnd.Broken.class);
        }
    }

    @Test
    void onlyProvenSignsOfLifeCountAndEachOnlyOnce() throws Exception {
        CapturedLog log = new CapturedLog();
        log.start();
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer);

            byte[] recorded = peer.provenAfterwards(new Alive(1));
            peer.send(recorded);
            Await.until("the one that counts", lifeline::isHeard);
            int dropped = 0;
            while (!lifeline.lost().isDone()) {
                peer.send(recorded);
                peer.send(HandshakeCodec.encode(0, new Alive(1L << 40)));
                peer.send(HandshakeCodec.encode(0, new Farewell(Optional.of(failure("forged")))));
                peer.send(HandshakeCodec.encode(0, new HandshakeMessage.Reject("forged")));
                dropped += 4;
                awaitDropped(log, dropped, lifeline);
                pass(BEAT, server);
            }

            assertThat(dropped).isGreaterThan(4);
            assertThat(end(lifeline)).isInstanceOf(LifelineEnd.Silent.class);
        } finally {
            log.stop();
        }
    }

    @Test
    void aPeerThatSaysOftenEnoughThatItLivesIsKeptAndHearsTheSame() throws Exception {
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer);

            for (long count = 1; count <= 5; count++) {
                peer.send(peer.provenAfterwards(new Alive(count)));
                passInPeace(1, List.of(lifeline));
                assertThat(peer.expectAfterwards(Alive.class)).isEqualTo(new Alive(count));
            }

            assertThat(lifeline.lost()).isNotDone();
            peer.send(peer.provenAfterwards(new Farewell(Optional.empty())));
            assertThat(end(lifeline)).isEqualTo(new LifelineEnd.Released());
        }
    }

    /** A peer is silent when its loop is. */
    @Test
    void whoWantsToKnowSoonIsToldThatAPeerIsSilentForAllItsConnections() throws Exception {
        List<Lifeline> ends = List.of(
                establish(ConnectionId.random()).atClient(),
                establish(ConnectionId.random()).atClient());
        List<CompletableFuture<Void>> told = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Void> each = told.get(i);
            ends.get(i).whenQuiet(() -> each.complete(null));
        }
        Await.until("the peer says more often that it lives", () -> {
            passInPeace(GROUP_BEAT, ends);
            return ends.stream().anyMatch(end -> silence(end).peerHurries());
        });
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Void> over = new CompletableFuture<>();
        server.loop().delayed(Duration.ZERO, Runnable::run).execute(() -> {
            begun.complete(null);
            over.join();
        });
        begun.get(60, TimeUnit.SECONDS);
        try {
            // a sign of life may be read after the first; and fewer than until each looks for itself
            for (int beat = 0; beat < 5; beat++) {
                pass(GROUP_BEAT, client);
            }
            for (CompletableFuture<Void> each : told) {
                each.get(60, TimeUnit.SECONDS);
            }
            assertThat(ends).allMatch(Lifeline::isQuiet);
        } finally {
            over.complete(null);
        }
    }

    /** It was read already when this process stopped, and what came meanwhile waits in the socket. */
    @Test
    void whatHasArrivedIsReadBeforeAPeerIsThoughtSilent() throws Exception {
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer);
            AtomicInteger told = new AtomicInteger();
            lifeline.whenQuiet(told::incrementAndGet);
            server.settle();
            CompletableFuture<Void> stopped = new CompletableFuture<>();
            CompletableFuture<Void> goesOn = new CompletableFuture<>();
            ConnectionId another = ConnectionId.random();
            server.listeners()
                    .register(
                            another,
                            Node.secretOf(another),
                            _ -> { // where the loop reads
                                stopped.complete(null);
                                goesOn.join();
                                return new CompletableFuture<>();
                            });
            client.connect(server.listeningAt(), client.offer(another));
            stopped.get(60, TimeUnit.SECONDS);

            peer.send(peer.provenAfterwards(new Alive(1)));
            clock.advance(BEAT.multipliedBy(3));
            goesOn.complete(null);

            Await.until("the sign of life", lifeline::isHeard);
            server.settle();
            assertThat(told).hasValue(0);
        }
    }

    @Test
    void aPeerThatAsksHearsFirstOverThePathsInUseThatThisProcessLives() throws Exception {
        try (RawPeer peer = RawPeer.connectingTo(server.listeningAt(), connection, Node.secretOf(connection))) {
            Lifeline lifeline = establish(peer);
            server.listeners().resume(connection, Node.secretOf(connection), _ -> new CompletableFuture<>());
            clock.advance(GROUP_BEAT); // too soon for one that is due

            for (int i = 0; i < 3; i++) { // one answers for all that ask at the same time
                client.client()
                        .ask(client.address(), server.listeningAt(), Node.secretOf(connection), connection)
                        .answered()
                        .get(60, TimeUnit.SECONDS);
            }

            assertThat(peer.expectAfterwards(Alive.class)).isEqualTo(new Alive(1));
            lifeline.release();
            peer.expectAfterwards(Farewell.class);
        }
    }

    @Test
    void aPeerIsLostThoughWhoIsToldOfItsSilenceFails() {
        FuzzedLink link = FuzzedLink.established(SILENCE);
        FuzzedPeer peer = link.peer();
        Lifeline outgoing = link.lifeline();
        outgoing.whenQuiet(() -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        peer.settle();

        for (long second = 0; second < 3 * SILENCE.toSeconds(); second++) {
            peer.pass(1000);
        }

        assertThat(outgoing.lost()).isCompletedWithValueMatching(LifelineEnd.Silent.class::isInstance);
        peer.end();
    }

    @Test
    void aProcessThatWasStoppedItselfDoesNotTakeItsPeersForSilent() {
        FuzzedLink link = FuzzedLink.established(SILENCE);
        FuzzedPeer peer = link.peer();
        Lifeline outgoing = link.lifeline();

        peer.pass(10 * SILENCE.toMillis()); // at once: no turn of the loop in between

        assertThat(outgoing.lost()).isNotDone();
        peer.pass(1000);
        peer.pass(1000);
        assertThat(outgoing.lost()).isCompletedWithValueMatching(LifelineEnd.Silent.class::isInstance);
        peer.end();
    }

    @Test
    void aThousandConnectionsStayConnectedOnOneThread() throws Exception {
        List<Ends> all = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            all.add(establish(ConnectionId.random()));
        }

        passInPeace(
                2 * SILENCE.toSeconds(),
                all.stream()
                        .flatMap(ends -> Stream.of(ends.atClient(), ends.atServer()))
                        .toList());

        assertThat(all).allSatisfy(ends -> {
            assertThat(ends.atClient().lost()).isNotDone();
            assertThat(ends.atServer().lost()).isNotDone();
        });
    }

    @Test
    void aDelayedTaskIsHandedOnByTheLoopsOwnThread() throws Exception {
        CompletableFuture<String> by = new CompletableFuture<>();
        Executor here = task -> {
            by.complete(Thread.currentThread().getName());
            task.run();
        };
        CompletableFuture<Void> ran = new CompletableFuture<>();

        client.loop().delayed(Duration.ofMillis(50), here).execute(() -> ran.complete(null));
        client.settle();
        assertThat(ran).isNotDone();
        pass(Duration.ofMillis(50), client);

        ran.get(60, TimeUnit.SECONDS);
        assertThat(by.join()).isEqualTo(HandshakeEventLoop.THREAD_NAME);
    }

    @Test
    void everyEndHasAnExplanation() {
        assertThat(List.of(
                        new LifelineEnd.Released(),
                        new LifelineEnd.Failed(failure("its reason")),
                        new LifelineEnd.Broken("Connection reset"),
                        new LifelineEnd.Silent(Duration.ofMillis(20_500)),
                        new LifelineEnd.Stopped(Duration.ofMillis(600_500)),
                        new LifelineEnd.Here()))
                .extracting(LifelineEnd::explanation)
                .satisfiesExactly(
                        text -> assertThat(text).contains("closed its end"),
                        text -> assertThat(text).contains("its reason"),
                        text -> assertThat(text).contains("killed", "Connection reset", "dmesg"),
                        text -> assertThat(text).contains("20.5 s", "handshake.peerTimeout", "ip -s link"),
                        text -> assertThat(text).contains("600.5 s", "handshake.stoppedTimeout", "is stopped"),
                        text -> assertThat(text).contains("this process"));
    }

    private void pass(Duration time, Node... nodes) {
        clock.advance(time);
        for (Node node : nodes) {
            node.settle();
        }
    }

    private void passInPeace(long beats, List<Lifeline> ends) {
        for (long beat = 0; beat < beats; beat++) {
            passInPeace(BEAT, ends);
        }
    }

    /** No longer than a beat; returns when what the peers have said by then is heard. */
    private void passInPeace(Duration time, List<Lifeline> ends) {
        pass(time, client, server);
        Await.until(
                "signs of life",
                () -> ends.stream().allMatch(end -> silence(end).nanos() <= BEAT.toNanos()));
    }

    private static SilenceClock silence(Lifeline lifeline) {
        return ((StreamLifeline) lifeline).heartbeat().silence();
    }

    /** Nothing is dropped any more once the lifeline has ended. */
    private static void awaitDropped(CapturedLog log, int messages, Lifeline lifeline) {
        Await.until(
                "messages are dropped",
                () -> lifeline.lost().isDone()
                        || log.lines().stream()
                                        .filter(line -> line.contains("unexpected or unproven"))
                                        .count()
                                >= messages);
    }

    private record Ends(Lifeline atClient, Lifeline atServer) {}

    private Ends establish() throws Exception {
        return establish(connection);
    }

    private Ends establish(ConnectionId id) throws Exception {
        Node.Listener listener = server.listen(id);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(id));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(server.answer());
        outgoing.answer().get(60, TimeUnit.SECONDS);
        return new Ends(
                outgoing.sendReady(1).get(60, TimeUnit.SECONDS).lifeline(),
                attempt.incoming().result().get(60, TimeUnit.SECONDS).lifeline());
    }

    /** Connects a peer that then says only what the test wants. */
    private Lifeline establish(RawPeer peer) throws Exception {
        return establish(peer, server);
    }

    private Lifeline establish(RawPeer peer, Node with) throws Exception {
        Node.Listener listener = with.listen(connection);
        peer.hello();
        peer.expect(HandshakeMessage.Challenge.class);
        peer.say(client.offer(connection));
        Node.Attempt attempt = listener.next();
        attempt.answer().complete(with.answer());
        peer.expect(Answer.class);
        peer.say(new Ready(1));
        peer.expect(Ready.class);
        assertThat(attempt.incoming().local()).isEqualTo(with.listeningAt());
        return attempt.incoming().result().get(60, TimeUnit.SECONDS).lifeline();
    }

    private static EndFailure failure(String words) {
        return new EndFailure(EndFailure.Scope.CONNECTION, words);
    }

    private static LifelineEnd end(Lifeline lifeline) throws Exception {
        return lifeline.lost().get(60, TimeUnit.SECONDS);
    }
}
