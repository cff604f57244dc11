package trigon.transport.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.transport.ReadingVerbs;
import trigon.transport.handle.RequestHandle;
import trigon.transport.metrics.Metrics;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.RegisteredMemory;
import trigon.verbs.AccessFlag;
import trigon.verbs.LinkKind;
import trigon.verbs.WorkCompletionStatus;

class FlushesTest {

    private static final long SESSION = 5L << 48 | 3L << 32;
    private static final long ADDRESS = 0x7000;

    private final ReadingVerbs verbs = new ReadingVerbs();
    private final Metrics metrics = Metrics.unshared();
    private final Links links = Links.open(
            List.of(ReadingVerbs.link("one", LinkKind.RDMA, 1), ReadingVerbs.link("two", LinkKind.RDMA, 2)),
            Map.of(LinkKind.RDMA, verbs),
            4096,
            metrics);
    private final Link one = links.all().get(0);
    private final Link two = links.all().get(1);
    private final Flushes flushes = new Flushes(SESSION);

    @AfterEach
    void nothingIsLeftOpen() {
        flushes.close();
        links.close();
        metrics.close();
    }

    private static RegisteredMemory memory(Link... of) {
        return RegisteredMemory.ofGpu(of, ADDRESS, 64, null, EnumSet.of(AccessFlag.LOCAL_WRITE));
    }

    private long flush(RegisteredMemory memory) {
        long request = flushes.begin(memory, ADDRESS);
        flushes.post(request);
        return request;
    }

    @Test
    void isDoneWhenEachDeviceHasRead() {
        flushes.use(List.of(one, two));
        long request = flush(memory(one, two));

        assertThat(RequestHandle.isFlush(request)).isTrue();
        assertThat(flushes.isDone(request)).isFalse();
        verbs.complete("one");
        assertThat(flushes.isDone(request)).isFalse();
        verbs.complete("two");
        assertThat(flushes.isDone(request)).isTrue();
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

        assertThat(flushes.isDone(before)).isTrue();
        long after = flush(memory);
        assertThat(verbs.outstanding.get("one")).hasSize(1);
        verbs.complete("two");
        assertThat(flushes.isDone(after)).isFalse();
        verbs.complete("one");
        assertThat(flushes.isDone(after)).isTrue();

        flush(memory);
        assertThat(verbs.outstanding.get("one")).isEmpty();
        assertThat(verbs.outstanding.get("two")).hasSize(1);
    }

    @Test
    void oneThatCouldNotBePostedIsPostedByTheQuestionForIt() {
        flushes.use(List.of(one));
        long request = flushes.begin(memory(one), ADDRESS);

        assertThat(verbs.outstanding).doesNotContainKey("one");
        assertThat(flushes.isDone(request)).isFalse();
        verbs.complete("one");
        assertThat(flushes.isDone(request)).isTrue();
    }

    @Test
    void anyOrderOfQuestionsWillDo() {
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        long first = flush(memory);
        long second = flush(memory);
        verbs.complete("one");

        assertThat(flushes.isDone(second)).isTrue();
        assertThat(flushes.isDone(first)).isTrue();
    }

    @Test
    void aReadThatFailsIsTheEnd() {
        flushes.use(List.of(one));
        long request = flush(memory(one));
        verbs.fail("one", WorkCompletionStatus.RETRY_EXCEEDED);

        assertThat(flushes.isDone(request)).isFalse();
        assertThat(flushes.failure()).contains("one 10.1.1.1/24", "RETRY_EXCEEDED");
    }

    /** It completes nothing any more, and whether all of it is there nobody knows. */
    @Test
    void aDeviceThatFailsIsTheEnd() {
        flushes.use(List.of(one));
        long request = flush(memory(one));
        one.deviceHasFailed();

        assertThat(flushes.isDone(request)).isFalse();
        assertThat(flushes.failure()).contains("one 10.1.1.1/24", "its device has failed");
    }

    @Test
    void hasRoomForAllRequestsOfNccl() {
        flushes.use(List.of(one));
        RegisteredMemory memory = memory(one);
        for (int i = 0; i < Flushes.MOST; i++) {
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
}
