package trigon.transport.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.nccl.GpuWrites;
import trigon.system.Memory;
import trigon.transport.handle.RequestHandle;
import trigon.transport.metrics.Metrics;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.FlushLayout;
import trigon.transport.request.RequestRow;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.LaneVerbs;
import trigon.transport.testsupport.ReadingVerbs;
import trigon.verbs.AccessFlag;
import trigon.verbs.LinkKind;
import trigon.verbs.ResourceLedger;
import trigon.verbs.WorkCompletionStatus;

class FlushQueueTest {

    private static final long SESSION = 5L << 48 | 3L << 32;
    private static final long ADDRESS = 0x7000;

    private final ReadingVerbs verbs = new ReadingVerbs();
    private final List<RegisteredMemory> memories = new ArrayList<>();
    private final Metrics metrics = Metrics.unshared();
    private final Links links = Links.open(
            List.of(ReadingVerbs.link("one", LinkKind.RDMA, 1), ReadingVerbs.link("two", LinkKind.RDMA, 2)),
            Map.of(LinkKind.RDMA, verbs),
            4096,
            metrics);
    private final Map<ResourceLedger.Kind, Integer> idle = verbs.ledger().outstanding();
    private final Link one = links.all().get(0);
    private final Link two = links.all().get(1);
    private final Queue<Runnable> control = new ArrayDeque<>();

    /** What the driver was asked for; it can do that if it is to. */
    private final List<Long> settled = new ArrayList<>();

    private boolean driverSettles;
    private final GpuWrites driver = address -> {
        settled.add(address);
        return driverSettles;
    };
    private final RequestTable table = RequestTable.unseen(LaneVerbs.FUNCTIONS);
    private final Requests requests = table.open(SESSION);
    private final FlushQueue flushes = queue(repairs(Duration.ofMinutes(1)));

    private FlushQueue queue(FlushQueue.Repairs by) {
        return new FlushQueue(requests, handle -> memories.get((int) handle - 1), by);
    }

    private FlushQueue.Repairs repairs(Duration patience) {
        return new FlushQueue.Repairs(control::add, driver, patience);
    }

    @AfterEach
    void nothingIsLeftOpen() {
        flushes.close();
        memories.forEach(RegisteredMemory::close);
        awaitDevices();
        assertThat(verbs.ledger().outstanding()).isEqualTo(idle);
        links.close();
        assertThat(verbs.ledger().outstanding()).isEmpty();
        table.close();
        metrics.close();
    }

    /** What was begun on control threads is done. */
    private void repair() {
        assertThat(control).hasSize(1);
        control.remove().run();
        awaitDevices();
    }

    /** Calls that were begun on threads of the devices are over, and those that they have begun. */
    private void awaitDevices() {
        for (int depth = 0; depth < 2; depth++) {
            links.all().forEach(link -> link.begin(() -> {}).join());
        }
    }

    private RegisteredMemory memory(Link... of) {
        RegisteredMemory memory = RegisteredMemory.ofGpu(of, ADDRESS, 64, null, EnumSet.of(AccessFlag.LOCAL_WRITE));
        memories.add(memory);
        memory.showIn(table.memories(), memories.size(), SESSION);
        return memory;
    }

    private long flush(RegisteredMemory memory) {
        return flush(flushes, memory);
    }

    private static long flush(FlushQueue of, RegisteredMemory memory) {
        long request = of.begin(memory, ADDRESS);
        assertThat(of.progress(request)).as("posted by the first question").isFalse();
        return request;
    }

    @Test
    void isDoneWhenEachDeviceHasRead() {
        flushes.use(List.of(one, two));
        long request = flush(memory(one, two));

        assertThat(flushes.progress(request)).isFalse();
        verbs.complete("one");
        assertThat(flushes.progress(request)).isFalse();
        verbs.complete("two");
        assertThat(flushes.progress(request)).isTrue();
        assertThat(flushes.has(request)).as("told once").isFalse();
    }

    @Test
    void readsOncePerDevice() {
        flushes.use(List.of(one, one));
        flush(memory(one, one));

        assertThat(verbs.outstanding.get("one")).hasSize(1);
    }

    /** What came over it may still be on its way, until a READ that was posted after the last of it is complete. */
    @Test
    void readsByAFormerDeviceUntilThatHasRead() {
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        long before = flush(memory);
        memory.moveTo(List.of(two));
        flushes.use(List.of(two));
        verbs.complete("one");

        assertThat(flushes.progress(before)).isTrue();
        long after = flush(memory);
        assertThat(verbs.outstanding.get("one")).hasSize(1);
        verbs.complete("two");
        assertThat(flushes.progress(after)).isFalse();
        verbs.complete("one");
        assertThat(flushes.progress(after)).isTrue();

        flush(memory);
        assertThat(verbs.outstanding.get("one")).isEmpty();
        assertThat(verbs.outstanding.get("two")).hasSize(1);
    }

    private boolean libraryFlushes() {
        long shared = Memory.getLong(requests.row() + RequestRow.FLUSHES);
        return Memory.getLong(shared + FlushLayout.DEVICE) != 0;
    }

    @Test
    void theLibraryFlushesWhileOneDeviceDoesAllReads() {
        flushes.use(List.of(one));
        assertThat(libraryFlushes()).isTrue();
        flushes.use(List.of(one, two));
        assertThat(libraryFlushes()).isFalse();
        flushes.use(List.of(two));
        assertThat(libraryFlushes()).as("what has come over the other one").isFalse();
        long request = flush(memory(one, two));
        assertThat(libraryFlushes()).isFalse();
        verbs.complete("one");
        assertThat(flushes.progress(request)).isFalse();
        assertThat(libraryFlushes()).isTrue();

        verbs.fail("two", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(flushes.progress(request)).isFalse();
        assertThat(libraryFlushes()).as("its queue pair has failed").isFalse();
        repair();
        assertThat(flushes.progress(request)).isFalse();
        assertThat(libraryFlushes()).isTrue();
        flushes.use(List.of(one));
        assertThat(libraryFlushes()).isFalse();
    }

    @Test
    void anyOrderOfQuestionsWillDo() {
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        long first = flush(memory);
        long second = flush(memory);
        verbs.complete("one");

        assertThat(flushes.progress(second)).isTrue();
        assertThat(flushes.progress(first)).isTrue();
    }

    /** The port is down; all that the queue pair has not read is read by the next one. */
    @Test
    void aReadThatFailsIsMadeAgainByAnotherQueuePair() {
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        long first = flush(memory);
        long second = flush(memory);
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);

        assertThat(flushes.progress(first)).isFalse();
        assertThat(flushes.isWaiting()).isTrue();
        long later = flush(memory);
        assertThat(flushes.progress(later)).isFalse();
        repair();
        assertThat(flushes.progress(first)).isFalse();
        assertThat(verbs.outstanding.get("one")).hasSize(3);
        verbs.complete("one");

        assertThat(flushes.progress(first)).isTrue();
        assertThat(flushes.progress(second)).isTrue();
        assertThat(flushes.progress(later)).isTrue();
        assertThat(flushes.failure()).isNull();
        assertThat(flushes.isWaiting()).isFalse();
    }

    /** Nothing else says that what it has carried is there, so its own READ is waited for. */
    @Test
    void aFormerDeviceWhosePortIsDownIsWaitedFor() {
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        long request = flush(memory);
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(flushes.progress(request)).isFalse();
        memory.moveTo(List.of(two));
        flushes.use(List.of(two));
        long next = flush(memory);
        verbs.complete("two");

        assertThat(flushes.progress(next)).isFalse();
        repair();
        assertThat(flushes.progress(next)).isFalse();
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(flushes.progress(next)).isFalse();
        repair();
        assertThat(flushes.progress(next)).isFalse();
        verbs.complete("one");

        assertThat(flushes.progress(next)).isTrue();
        assertThat(flushes.progress(request)).isTrue();
        flush(memory);
        assertThat(verbs.outstanding.get("one")).isEmpty();
    }

    @Test
    void aQueuePairThatCannotBeMadeYetIsTriedAgain() {
        flushes.use(List.of(one));
        long request = flush(memory(one));
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(flushes.progress(request)).isFalse();
        verbs.without = "one";
        repair();
        assertThat(flushes.progress(request)).isFalse();
        verbs.without = "";
        repair();
        assertThat(flushes.progress(request)).isFalse();
        verbs.complete("one");

        assertThat(flushes.progress(request)).isTrue();
    }

    @Test
    void aPortThatStaysDownIsTheEnd() {
        try (FlushQueue impatient = queue(repairs(Duration.ZERO))) {
            impatient.use(List.of(one));
            long request = flush(impatient, memory(one));
            verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
            assertThat(impatient.progress(request)).isFalse();
            assertThat(impatient.failure()).isNull();
            repair();
            assertThat(impatient.progress(request)).isFalse();
            verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);

            assertThat(impatient.progress(request)).isFalse();
            assertThat(impatient.failure()).contains("one 10.1.1.1/24", "RETRY_EXCEEDED", "handshake.peerTimeout");
        }
    }

    /** What it was asked for is wrong, and would be the next time. */
    @Test
    void aReadThatIsRefusedIsTheEnd() {
        flushes.use(List.of(one));
        long request = flush(memory(one));
        verbs.fail("one", WorkCompletionStatus.REMOTE_ACCESS_ERROR);

        assertThat(flushes.progress(request)).isFalse();
        assertThat(flushes.failure()).contains("one 10.1.1.1/24", "REMOTE_ACCESS_ERROR");
        assertThat(control).isEmpty();
    }

    /** It completes nothing any more, and whether all of it is there nobody knows. */
    @Test
    void aDeviceThatFailsIsTheEnd() {
        flushes.use(List.of(one));
        long request = flush(memory(one));
        one.deviceHasFailed();

        assertThat(flushes.progress(request)).isFalse();
        repair();
        assertThat(flushes.progress(request)).isFalse();
        assertThat(flushes.failure()).contains("one 10.1.1.1/24", "its device has failed; see dmesg, and restart");
    }

    /** All that was under way when it is asked is there then, and nothing else. */
    @Test
    void theDriverFlushesWhatADeviceCannot() {
        driverSettles = true;
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        long request = flush(memory);
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(flushes.progress(request)).isFalse();
        long later = flush(memory);
        repair();

        assertThat(flushes.progress(later)).isFalse();
        assertThat(settled).containsExactly(ADDRESS);
        assertThat(flushes.progress(request)).isTrue();
        verbs.complete("one");
        assertThat(flushes.progress(later)).isTrue();
    }

    @Test
    void aFormerDeviceIsDoneWithOnceTheDriverHasFlushed() {
        driverSettles = true;
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        memory.moveTo(List.of(two));
        flushes.use(List.of(two));
        long request = flush(memory);
        verbs.complete("two");
        assertThat(flushes.progress(request)).isFalse();
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(flushes.progress(request)).isFalse();
        verbs.without = "one";
        repair();

        assertThat(flushes.progress(request)).isTrue();
        long next = flush(memory);
        verbs.complete("two");
        assertThat(flushes.progress(next)).isTrue();
        assertThat(control).isEmpty();
    }

    /** Its queue pair is made anew once it has time. */
    @Test
    void aDeviceWhoseCallsHangHoldsUpNoFlushOfTheDriver() {
        CountDownLatch answers = new CountDownLatch(1);
        CompletableFuture<Void> hangs = one.begin(() -> {
            try {
                answers.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        driverSettles = true;
        long request = failingFlush(flushes);
        control.remove().run();
        boolean done = flushes.progress(request);
        answers.countDown();
        hangs.join();
        awaitDevices();

        assertThat(done).isTrue();
        assertThat(flushes.isWaiting()).isTrue();
        assertThat(flushes.progress(flush(memory(one)))).isFalse();
        assertThat(flushes.isWaiting()).isFalse();
    }

    /** It does without the device, each time. */
    @Test
    void theDriverFlushesWhatAFailedDeviceHasWritten() {
        driverSettles = true;
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        one.deviceHasFailed();
        for (int round = 0; round < 3; round++) {
            long request = flush(memory);
            assertThat(flushes.progress(request)).isFalse();
            repair();
            assertThat(flushes.progress(request)).isTrue();
            assertThat(flushes.failure()).isNull();
        }
    }

    @Test
    void aPluginThatIsClosedRepairsNothing() {
        Executor closed = task -> {
            throw new RejectedExecutionException("" + task);
        };
        try (FlushQueue late = queue(new FlushQueue.Repairs(closed, driver, Duration.ofMinutes(1)))) {
            late.use(List.of(one));
            long request = flush(late, memory(one));
            verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);

            assertThat(late.progress(request)).isFalse();
            assertThat(late.failure()).contains("RETRY_EXCEEDED");
        }
    }

    private long failingFlush(FlushQueue of) {
        of.use(List.of(one));
        long request = flush(of, memory(one));
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(of.progress(request)).isFalse();
        assertThat(of.failure()).isNull();
        return request;
    }

    /** A driver hangs, after an error of the GPU. */
    @Test
    void aRepairThatDoesNotEndIsTheEnd() {
        try (FlushQueue impatient = queue(new FlushQueue.Repairs(_ -> {}, driver, Duration.ZERO))) {
            long request = failingFlush(impatient);

            assertThat(impatient.progress(request)).isFalse();
            assertThat(impatient.failure())
                    .contains("one 10.1.1.1/24", "RETRY_EXCEEDED", "the repair takes longer", "dmesg");
        }
    }

    /** Nor does it hold up the end of the connection, and makes nothing after it. */
    @Test
    @Timeout(60)
    void aDriverThatHangsHoldsUpNoClose() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        GpuWrites hanging = _ -> {
            asked.countDown();
            try {
                answer.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return true;
        };
        List<Thread> threads = new ArrayList<>();
        Executor ofTheirOwn = task -> threads.add(Thread.ofPlatform().daemon().start(task));
        try (FlushQueue hung = queue(new FlushQueue.Repairs(ofTheirOwn, hanging, Duration.ofMinutes(1)))) {
            failingFlush(hung);
            asked.await();
        }
        answer.countDown();
        threads.getFirst().join();
        awaitDevices();

        assertThat(verbs.ledger().count(ResourceLedger.Kind.QUEUE_PAIR)).isZero();
    }

    /** A cut cable takes hundreds of connections, which wait together. */
    @Test
    void theLogTellsOnceForAllConnectionsOverALink() {
        FlushQueue.Repairs shared = repairs(Duration.ofMinutes(1));
        try (CapturedLog log = new CapturedLog();
                FlushQueue first = queue(shared);
                FlushQueue second = queue(shared)) {
            long firstRequest = failingFlush(first);
            repair();
            assertThat(first.progress(firstRequest)).isFalse();
            verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
            assertThat(first.progress(firstRequest)).isFalse();
            long _ = failingFlush(second);
            control.remove().run();
            control.remove().run();
            awaitDevices();

            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .contains("WARN", "one 10.1.1.1/24", "yet", "ibv_devinfo");
        }
    }

    /** NCCL aborts: nothing is made for a connection that is closed, and nothing is left open. */
    @Test
    void aRepairThatIsLateMakesNothing() {
        flushes.use(List.of(one));
        long request = flush(memory(one));
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
        assertThat(flushes.progress(request)).isFalse();
        flushes.close();
        repair();

        awaitDevices();
        assertThat(verbs.ledger().count(ResourceLedger.Kind.QUEUE_PAIR)).isZero();
    }

    @Test
    void hasRoomForAllRequestsOfNccl() {
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        for (int i = 0; i < FlushQueue.MAX; i++) {
            assertThat(flush(memory)).isNotZero();
        }
        assertThat(flushes.begin(memory, ADDRESS)).isZero();
    }

    @Test
    void knowsNoOtherRequests() {
        flushes.use(List.of(one));
        long request = flush(memory(one));

        assertThat(flushes.has(RequestHandle.of(SESSION, 0))).isFalse();
        assertThat(flushes.has(RequestHandle.ofFlush(SESSION, 32))).isFalse();
        assertThat(flushes.has(request)).isTrue();
    }

    /** Beside a device that withholds what it has written until it READs, and whose port goes up and down. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void noFlushIsDoneBeforeWhatItIsOfIsThere(long seed) {
        Random random = new Random(seed);
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        Map<Long, Integer> underWay = new LinkedHashMap<>(); // by request: what it is of
        int written = 0;
        int there = 0;
        int done = 0;
        int repairs = 0;
        for (int step = 0; step < 20_000; step++) {
            boolean reads = verbs.outstanding.containsKey("one")
                    && !verbs.outstanding.get("one").isEmpty();
            switch (random.nextInt(8)) {
                case 0 -> written++;
                case 1 -> {
                    if (underWay.size() < FlushQueue.MAX / 2) {
                        underWay.put(flush(memory), written);
                    }
                }
                case 2 -> verbs.without = random.nextInt(4) == 0 ? "one" : "";
                case 3 -> verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);
                case 4, 5 -> {
                    verbs.complete("one");
                    there = reads ? written : there;
                }
                default -> {
                    if (!control.isEmpty()) {
                        repair();
                        repairs++;
                    }
                }
            }
            for (var flush : Map.copyOf(underWay).entrySet()) {
                if (flushes.progress(flush.getKey())) {
                    assertThat(there).as("seed %d, step %d", seed, step).isGreaterThanOrEqualTo(flush.getValue());
                    underWay.remove(flush.getKey());
                    done++;
                }
            }
        }
        assertThat(flushes.failure()).isNull();
        assertThat(done).as("seed %d", seed).isGreaterThan(1000);
        assertThat(repairs).as("seed %d", seed).isGreaterThan(100);
    }
}
