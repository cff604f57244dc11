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
import java.util.ArrayList;
import java.util.List;

/** Asks the kernel one question by a routing socket (rtnetlink(7)). Any thread; does not block. */
final class RoutingSocket {

    // x86-64 and arm64 alike: bits/socket.h
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW = 3;
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int NETLINK_ROUTE = 0;

    /** The kernel fills datagrams of a dump up to 32 KiB. */
    private static final int ANSWER_BYTES = 32 << 10;

    private static final int MAX_ANSWERS = 16;

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
     * The datagrams of the kernel's answer, in the byte order of this machine; none if it answers nobody here.
     *
     * @param several whether the question asks for a list, whose datagrams are read until there is no more
     */
    static List<ByteBuffer> ask(byte[] request, boolean several) {
        List<ByteBuffer> answers = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            int socket = (int) SOCKET.invokeExact(AF_NETLINK, SOCK_RAW | NONBLOCK_CLOEXEC, NETLINK_ROUTE);
            if (socket < 0) {
                return answers;
            }
            try {
                MemorySegment asked = arena.allocateFrom(JAVA_BYTE, request);
                MemorySegment answer = arena.allocate(ANSWER_BYTES, Long.BYTES);
                long bytes = (long) WRITE.invokeExact(socket, asked, (long) request.length);
                while (bytes > 0 && answers.size() < (several ? MAX_ANSWERS : 1)) {
                    bytes = (long) READ.invokeExact(socket, answer, (long) ANSWER_BYTES);
                    if (bytes > 0) {
                        byte[] read = answer.asSlice(0, bytes).toArray(JAVA_BYTE);
                        answers.add(ByteBuffer.wrap(read).order(ByteOrder.nativeOrder()));
                    }
                }
                return answers;
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
