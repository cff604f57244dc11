package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.verbs.Errno;
import trigon.verbs.ffm.generated.ibv_context;
import trigon.verbs.ffm.generated.ibv_context_ops;

/** The data path calls over a made-up {@code struct ibv_context} whose functions are Java methods. */
class DataPathCallsTest {

    private static final long QUEUE = 0x51;
    private static final long REQUEST = 0x52;
    private static final long COMPLETIONS = 0x53;

    private final Arena arena = Arena.ofConfined();

    private int returned;
    private String called = "";

    @AfterEach
    void close() {
        arena.close();
    }

    int postSend(long queue, long request, long failed) {
        called = "post_send %x %x %x".formatted(queue, request, failed);
        return returned;
    }

    int postReceive(long queue, long request, long failed) {
        called = "post_recv %x %x %x".formatted(queue, request, failed);
        return returned;
    }

    int poll(long queue, int capacity, long completions) {
        called = "poll_cq %x %d %x".formatted(queue, capacity, completions);
        return returned;
    }

    @Test
    void callTheFunctionsOfTheContext() throws Exception {
        DataPathCalls calls = DataPathCalls.of(context(), false);

        assertThat(calls.postSend(QUEUE, REQUEST, 1)).isZero();
        assertThat(called).isEqualTo("post_send 51 52 1");
        assertThat(calls.postReceive(QUEUE, REQUEST, 2)).isZero();
        assertThat(called).isEqualTo("post_recv 51 52 2");
        returned = 3;
        assertThat(calls.poll(QUEUE, 16, COMPLETIONS)).isEqualTo(3);
        assertThat(called).isEqualTo("poll_cq 51 16 53");
    }

    @Test
    void giveAPositiveErrnoHoweverTheProviderPutsIt() throws Exception {
        DataPathCalls calls = DataPathCalls.of(context(), false);

        returned = Errno.ENOMEM;
        assertThat(calls.postSend(QUEUE, REQUEST, 1)).isEqualTo(Errno.ENOMEM);
        returned = -Errno.EINVAL;
        assertThat(calls.postReceive(QUEUE, REQUEST, 1)).isEqualTo(Errno.EINVAL);
        returned = -1;
        assertThat(calls.postSend(QUEUE, REQUEST, 1)).isEqualTo(Errno.EIO);
    }

    @Test
    void giveANegativeErrnoOfPolling() throws Exception {
        DataPathCalls calls = DataPathCalls.of(context(), false);

        returned = -1;
        assertThat(calls.poll(QUEUE, 16, COMPLETIONS)).isEqualTo(-Errno.EIO);
        returned = -Errno.EINVAL;
        assertThat(calls.poll(QUEUE, 16, COMPLETIONS)).isEqualTo(-Errno.EINVAL);
    }

    /** A critical call must not come back into Java, so the functions are of the C library: {@code labs(3)}. */
    @Test
    void callCriticallyWhereAsked() {
        MemorySegment labs = SymbolLookup.loaderLookup()
                .or(Linker.nativeLinker().defaultLookup())
                .findOrThrow("labs");
        DataPathCalls calls = DataPathCalls.of(context(labs, labs, labs), true);

        assertThat(calls.postSend(-Errno.ENOMEM, 0, 0)).isEqualTo(Errno.ENOMEM);
        assertThat(calls.postReceive(-Errno.EINVAL, 0, 0)).isEqualTo(Errno.EINVAL);
        assertThat(calls.poll(-2, 0, 0)).isEqualTo(2);
    }

    private long context() throws ReflectiveOperationException {
        return context(
                stub("postSend", ValueLayout.JAVA_LONG),
                stub("postReceive", ValueLayout.JAVA_LONG),
                stub("poll", ValueLayout.JAVA_INT));
    }

    private long context(MemorySegment postSend, MemorySegment postReceive, MemorySegment poll) {
        MemorySegment context = ibv_context.allocate(arena);
        MemorySegment ops = ibv_context.ops(context);
        ibv_context_ops.post_send(ops, postSend);
        ibv_context_ops.post_recv(ops, postReceive);
        ibv_context_ops.poll_cq(ops, poll);
        return context.address();
    }

    private MemorySegment stub(String method, ValueLayout second) throws ReflectiveOperationException {
        FunctionDescriptor descriptor =
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, second, ValueLayout.JAVA_LONG);
        MethodType type = descriptor.toMethodType();
        return Linker.nativeLinker()
                .upcallStub(
                        MethodHandles.lookup()
                                .findVirtual(DataPathCallsTest.class, method, type)
                                .bindTo(this),
                        descriptor,
                        arena);
    }
}
