package trigon.system.kernel;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Predicate;

/**
 * Asks the kernel one question by a routing socket. Any thread; does not block.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/netlink.7.html">netlink(7)</a>
 */
final class RoutingSocket {

    // x86-64 and arm64 alike: bits/socket.h
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int NETLINK_ROUTE = 0;

    /** The kernel writes at most 32 KiB at once (netlink(7)). */
    private static final int ANSWER_BYTES = 64 << 10;

    private static final MethodHandle SOCKET = of("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    private static final MethodHandle WRITE = of("write", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle READ = of("read", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG);
    private static final MethodHandle CLOSE = of("close", JAVA_INT, JAVA_INT);

    private RoutingSocket() {}

    private static MethodHandle of(String name, ValueLayout result, ValueLayout... arguments) {
        return Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow(name),
                        FunctionDescriptor.of(result, arguments));
    }

    /**
     * Asks, and reads the answer, which may come in parts.
     *
     * @param part takes one part, in this machine's byte order; whether there are more
     */
    static void ask(byte[] request, Predicate<ByteBuffer> part) {
        try (Arena arena = Arena.ofConfined()) {
            int socket = (int) SOCKET.invokeExact(AF_NETLINK, SOCK_RAW | NONBLOCK_CLOEXEC, NETLINK_ROUTE);
            if (socket < 0) {
                return;
            }
            try {
                MemorySegment asked = arena.allocateFrom(JAVA_BYTE, request);
                MemorySegment answer = arena.allocate(ANSWER_BYTES, Long.BYTES);
                long bytes = (long) WRITE.invokeExact(socket, asked, (long) request.length);
                boolean more = true;
                while (bytes > 0 && more) {
                    bytes = (long) READ.invokeExact(socket, answer, (long) ANSWER_BYTES);
                    more = bytes > 0
                            && part.test(answer.asSlice(0, bytes).asByteBuffer().order(ByteOrder.nativeOrder()));
                }
            } finally {
                int _ = (int) CLOSE.invokeExact(socket);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("a downcall throws no checked exception", e);
        }
    }
}
