package trigon.testsupport.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import trigon.verbs.NativePost;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;

/** An RDMA READ, which C alone posts: so does this, by the same function of the device. */
public record Read(long number, long to, int length, int toKey, long from, int fromKey) {

    private static final MethodHandle POST_SEND =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));

    // struct ibv_send_wr and struct ibv_sge
    private static final long REQUEST_BYTES = 128;
    private static final long PIECES = 16;
    private static final long PIECE_COUNT = 24;
    private static final long OPCODE = 28;
    private static final long FLAGS = 32;
    private static final long REMOTE_ADDRESS = 40;
    private static final long REMOTE_KEY = 48;
    private static final int READ = 4;

    /** Posts it, signalled; returns 0 or an errno. */
    public int post(QueuePair queuePair) {
        NativePost post = queuePair.nativePost().orElseThrow();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment refused = arena.allocate(JAVA_LONG);
            MemorySegment piece = arena.allocate(2 * JAVA_LONG.byteSize(), JAVA_LONG.byteSize());
            piece.set(JAVA_LONG, 0, to);
            piece.set(JAVA_INT, 8, length);
            piece.set(JAVA_INT, 12, toKey);
            MemorySegment request = arena.allocate(REQUEST_BYTES, JAVA_LONG.byteSize());
            request.set(JAVA_LONG, 0, number);
            request.set(JAVA_LONG, PIECES, piece.address());
            request.set(JAVA_INT, PIECE_COUNT, length == 0 ? 0 : 1);
            request.set(JAVA_INT, OPCODE, READ);
            request.set(JAVA_INT, FLAGS, SendFlag.SIGNALED);
            request.set(JAVA_LONG, REMOTE_ADDRESS, from);
            request.set(JAVA_INT, REMOTE_KEY, fromKey);
            MemorySegment send = MemorySegment.ofAddress(post.send());
            return (int) POST_SEND.invokeExact(send, post.queuePair(), request.address(), refused.address());
        } catch (Throwable e) {
            throw new AssertionError("a function of C throws nothing", e);
        }
    }
}
