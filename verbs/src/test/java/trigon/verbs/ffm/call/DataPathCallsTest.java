package trigon.verbs.ffm.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

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
import trigon.system.Errno;
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

    @Test
    void callTheFunctionsOfTheContext() throws Exception {
        DataPathCalls calls = DataPathCalls.of(context(), false);

        assertThat(calls.postSend(QUEUE, REQUEST, 1)).isZero();
        assertThat(called).isEqualTo("post_send 51 52 1");
        assertThat(calls.postReceive(0, REQUEST, 2)).isZero();
        assertThat(calls.poll(-3, 16, COMPLETIONS)).isEqualTo(3);
    }

    @Test
    void canBeLinkedAheadOfTheirFirstUse() {
        assertThatCode(DataPathCalls::linkAhead).doesNotThrowAnyException();
    }

    @Test
    void giveAPositiveErrnoHoweverTheProviderPutsIt() throws Exception {
        DataPathCalls calls = DataPathCalls.of(context(), false);

        returned = Errno.ENOMEM;
        assertThat(calls.postSend(QUEUE, REQUEST, 1)).isEqualTo(Errno.ENOMEM);
        returned = -Errno.EINVAL;
        assertThat(calls.postSend(QUEUE, REQUEST, 1)).isEqualTo(Errno.EINVAL);
        returned = -1;
        assertThat(calls.postSend(QUEUE, REQUEST, 1)).isEqualTo(Errno.EIO);
    }

    @Test
    void giveANegativeErrnoOfPolling() {
        MemorySegment htonl = function("htonl");
        DataPathCalls calls = DataPathCalls.of(context(htonl, htonl, htonl), false);

        assertThat(calls.poll(-1, 16, COMPLETIONS)).isEqualTo(-Errno.EIO);
        assertThat(calls.poll(Integer.reverseBytes(-Errno.EINVAL), 16, COMPLETIONS))
                .isEqualTo(-Errno.EINVAL);
    }

    @Test
    void callCriticallyWhereAsked() {
        MemorySegment labs = function("labs");
        DataPathCalls calls = DataPathCalls.of(context(labs, labs, labs), true);

        assertThat(calls.postSend(-Errno.ENOMEM, 0, 0)).isEqualTo(Errno.ENOMEM);
        assertThat(calls.postReceive(-Errno.EINVAL, 0, 0)).isEqualTo(Errno.EINVAL);
        assertThat(calls.poll(-2, 0, 0)).isEqualTo(2);
    }

    /** A critical call must not come back into Java, so the functions for those are of the C library. */
    private static MemorySegment function(String name) {
        return SymbolLookup.loaderLookup()
                .or(Linker.nativeLinker().defaultLookup())
                .findOrThrow(name);
    }

    private long context() throws ReflectiveOperationException {
        MemorySegment labs = function("labs");
        return context(stub(), labs, labs);
    }

    private long context(MemorySegment postSend, MemorySegment postReceive, MemorySegment poll) {
        MemorySegment context = ibv_context.allocate(arena);
        MemorySegment ops = ibv_context.ops(context);
        ibv_context_ops.post_send(ops, postSend);
        ibv_context_ops.post_recv(ops, postReceive);
        ibv_context_ops.poll_cq(ops, poll);
        return context.address();
    }

    private MemorySegment stub() throws ReflectiveOperationException {
        FunctionDescriptor descriptor = FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
        MethodType type = descriptor.toMethodType();
        return Linker.nativeLinker()
                .upcallStub(
                        MethodHandles.lookup()
                                .findVirtual(DataPathCallsTest.class, "postSend", type)
                                .bindTo(this),
                        descriptor,
                        arena);
    }
}
