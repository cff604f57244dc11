package trigon.transport.testsupport;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import trigon.system.Errno;
import trigon.system.Memory;
import trigon.transport.request.LaneFunctions;
import trigon.verbs.CompletionQueue;
import trigon.verbs.DeviceContext;
import trigon.verbs.NativePoll;
import trigon.verbs.NativePost;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.VerbsProvider;
import trigon.verbs.WorkCompletions;

/**
 * Devices of Java that C can post to and poll, as it does with libibverbs, so that their messages go through lanes. The
 * work requests that C posts are those of {@code lane/verbs_abi.h}.
 */
public final class LaneVerbs {

    private static final String LIBRARY = "trigon.lane.library";

    /** By what a test's child process finds the library, too. */
    public static final String LIBRARY_OPTION = "-D" + LIBRARY + "=" + System.getProperty(LIBRARY, "");

    /** By what it finds the descriptors of its sockets. */
    public static final String EXPORTS_OPTION = "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED";

    /** The functions of the library that tests use in place of the entry library. */
    public static final LaneFunctions FUNCTIONS =
            LaneFunctions.at(SymbolLookup.libraryLookup(Path.of(System.getProperty(LIBRARY, "")), Arena.global())
                    .findOrThrow("lane_functions")
                    .address());

    private static final int WRITE = 0;
    private static final int WRITE_WITH_IMMEDIATE = 1;
    private static final int READ = 4;

    private static final Map<Long, QueuePair> QUEUE_PAIRS = new ConcurrentHashMap<>();
    private static final Map<Long, Runnable> READERS = new ConcurrentHashMap<>();
    private static final Map<Long, CompletionQueue> QUEUES = new ConcurrentHashMap<>();
    private static final AtomicLong NUMBERS = new AtomicLong(1);
    private static final long POST_SEND = post((queuePair, request, _) -> postSend(queuePair, request));
    private static final long POST_RECEIVE = post((queuePair, first, _) -> postReceives(queuePair, first));
    private static final long POLL = poll((queue, entries, completions) ->
            Objects.requireNonNull(QUEUES.get(queue)).poll(new WorkCompletions(completions, entries)));

    /** {@code post_send_function} and {@code post_receive_function}. */
    @FunctionalInterface
    interface Post {
        int post(long queuePair, long requests, long refused);
    }

    /** {@code poll_function}. */
    @FunctionalInterface
    interface Poll {
        int poll(long queue, int entries, long completions);
    }

    private LaneVerbs() {}

    private static long post(Post target) {
        MethodType type = MethodType.methodType(int.class, long.class, long.class, long.class);
        return stub(Post.class, "post", type, target);
    }

    private static long poll(Poll target) {
        MethodType type = MethodType.methodType(int.class, long.class, int.class, long.class);
        return stub(Poll.class, "poll", type, target);
    }

    private static <T> long stub(Class<T> of, String method, MethodType type, T target) {
        try {
            return Linker.nativeLinker()
                    .upcallStub(
                            MethodHandles.lookup().findVirtual(of, method, type).bindTo(target),
                            FunctionDescriptor.of(
                                    JAVA_INT,
                                    JAVA_LONG,
                                    type.parameterType(1) == int.class ? JAVA_INT : JAVA_LONG,
                                    JAVA_LONG),
                            Arena.global())
                    .address();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Posts the first of what may be a list: lanes post one at a time. */
    private static int postSend(long queuePair, long request) {
        if (Memory.getInt(request + 28) == READ) {
            Objects.requireNonNull(READERS.get(queuePair)).run();
            return 0;
        }
        QueuePair to = Objects.requireNonNull(QUEUE_PAIRS.get(queuePair));
        long piece = Memory.getLong(request + 16);
        long number = Memory.getLong(request);
        int flags = Memory.getInt(request + 32);
        int immediate = Integer.reverseBytes(Memory.getInt(request + 36));
        long remote = Memory.getLong(request + 40);
        int remoteKey = Memory.getInt(request + 48);
        long address = Memory.getLong(piece);
        int length = Memory.getInt(piece + 8);
        int key = Memory.getInt(piece + 12);
        return switch (Memory.getInt(request + 28)) {
            case WRITE -> to.postWrite(number, address, length, key, remote, remoteKey, flags);
            case WRITE_WITH_IMMEDIATE ->
                to.postWriteWithImmediate(number, address, length, key, remote, remoteKey, immediate, flags);
            default -> Errno.EOPNOTSUPP;
        };
    }

    private static int postReceives(long queuePair, long first) {
        int count = 0;
        for (long request = first; request != 0; request = Memory.getLong(request + 8)) {
            count++;
        }
        return Objects.requireNonNull(QUEUE_PAIRS.get(queuePair)).postEmptyReceives(count);
    }

    /** The same devices, within reach of C. */
    public static VerbsProvider around(VerbsProvider devices) {
        return proxy(VerbsProvider.class, devices, (method, arguments) -> {
            Object result = call(devices, method, arguments);
            return method.getName().equals("open") ? context((DeviceContext) result) : result;
        });
    }

    private static DeviceContext context(DeviceContext device) {
        return proxy(DeviceContext.class, device, (method, arguments) -> switch (method.getName()) {
            case "createCompletionQueue" -> queue((CompletionQueue) call(device, method, arguments));
            case "createQueuePair" -> {
                arguments[1] = unwrapped((QueuePairCapacity) arguments[1]);
                yield queuePair((QueuePair) call(device, method, arguments));
            }
            default -> call(device, method, arguments);
        });
    }

    private static QueuePairCapacity unwrapped(QueuePairCapacity capacity) {
        return new QueuePairCapacity(
                own(capacity.sendCompletions()),
                own(capacity.receiveCompletions()),
                capacity.sendWorkRequests(),
                capacity.receiveWorkRequests(),
                capacity.inlineBytes());
    }

    private static CompletionQueue own(CompletionQueue queue) {
        return queue.nativePoll().map(poll -> QUEUES.get(poll.queue())).orElse(queue);
    }

    /** The way by which C polls a queue of Java's. */
    static NativePoll pollOf(CompletionQueue queue) {
        long number = NUMBERS.getAndIncrement();
        QUEUES.put(number, queue);
        return new NativePoll(POLL, number);
    }

    private static CompletionQueue queue(CompletionQueue queue) {
        NativePoll poll = pollOf(queue);
        return proxy(CompletionQueue.class, queue, (method, arguments) -> switch (method.getName()) {
            case "nativePoll" -> Optional.of(poll);
            default -> call(queue, method, arguments);
        });
    }

    /** The way by which C posts READs, each of which runs that. */
    static NativePost readsBy(Runnable reader) {
        long number = NUMBERS.getAndIncrement();
        READERS.put(number, reader);
        return new NativePost(number, POST_SEND, POST_RECEIVE, 0);
    }

    private static QueuePair queuePair(QueuePair queuePair) {
        long number = NUMBERS.getAndIncrement();
        QUEUE_PAIRS.put(number, queuePair);
        return proxy(QueuePair.class, queuePair, (method, arguments) -> switch (method.getName()) {
            case "nativePost" -> Optional.of(new NativePost(number, POST_SEND, POST_RECEIVE, 0));
            default -> call(queuePair, method, arguments);
        });
    }

    private static <T> T proxy(Class<T> type, T of, BiFunction<Method, Object[], Object> handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new Calls(of, handler)));
    }

    /** Equal for the same object behind. */
    private record Calls(Object of, BiFunction<Method, Object[], Object> handler) implements InvocationHandler {

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) {
            return method.getName().equals("equals")
                    ? Proxy.isProxyClass(arguments[0].getClass())
                            && Proxy.getInvocationHandler(arguments[0]) instanceof Calls other
                            && of.equals(other.of)
                    : handler.apply(method, arguments);
        }
    }

    private static Object call(Object of, Method method, Object[] arguments) {
        try {
            return method.invoke(of, arguments);
        } catch (InvocationTargetException e) {
            throw sneaky(Objects.requireNonNull(e.getCause()));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> RuntimeException sneaky(Throwable thrown) throws E {
        throw (E) thrown;
    }
}
