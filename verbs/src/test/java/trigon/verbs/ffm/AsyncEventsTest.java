package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import trigon.system.Errno;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;
import trigon.verbs.CompletionQueue;
import trigon.verbs.QueuePair;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.call.AsyncEventSource;
import trigon.verbs.ffm.generated.ibv_async_event;

/** What is made of a device's asynchronous events; the device is made up. */
class AsyncEventsTest {

    private static final long QUEUE_PAIR = 0x1000;
    private static final long COMPLETION_QUEUE = 0x2000;

    private record Raised(int code, long element) {}

    private final Deque<Raised> raised = new ArrayDeque<>();
    private final List<String> calls = new ArrayList<>();
    private int errno = Errno.EAGAIN;
    private final AsyncEvents events = new AsyncEvents("mlx5_0", new AsyncEventSource() {
        @Override
        public int next(MemorySegment event) {
            Raised next = raised.poll();
            if (next == null) {
                return errno;
            }
            ibv_async_event.event_type(event, next.code);
            MemorySegment element = ibv_async_event.element(event);
            ibv_async_event.element.qp(element, MemorySegment.ofAddress(next.element));
            calls.add("next " + next.code);
            return 0;
        }

        @Override
        public void acknowledge(MemorySegment event) {
            calls.add("ack " + ibv_async_event.event_type(event));
        }
    });
    private final QueuePair queuePair = unused(QueuePair.class);
    private final CompletionQueue completionQueue = unused(CompletionQueue.class);

    @SuppressWarnings("ReferenceEquality") // as Object.equals does
    private static <T> T unused(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> switch (method.getName()) {
                    case "equals" -> proxy == args[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "toString" -> type.getSimpleName();
                    default -> throw new AssertionError(method);
                }));
    }

    @Test
    void eachIsAboutItsObjectAndAcknowledgedOnce() {
        events.add(QUEUE_PAIR, queuePair);
        events.add(COMPLETION_QUEUE, completionQueue);
        raised.add(new Raised(1, QUEUE_PAIR));
        raised.add(new Raised(0, COMPLETION_QUEUE));
        raised.add(new Raised(10, 2));
        raised.add(new Raised(8, 0));

        assertThat(events.poll()).contains(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_FATAL, queuePair));
        assertThat(events.poll())
                .contains(new AsyncEvent.OfCompletionQueue(AsyncEventType.COMPLETION_QUEUE_ERROR, completionQueue));
        assertThat(events.poll()).contains(new AsyncEvent.OfPort(AsyncEventType.PORT_ERROR, 2));
        assertThat(events.poll()).contains(new AsyncEvent.OfDevice(AsyncEventType.DEVICE_FATAL));
        assertThat(events.poll()).isEmpty();
        assertThat(calls).containsExactly("next 1", "ack 1", "next 0", "ack 0", "next 10", "ack 10", "next 8", "ack 8");
    }

    @Test
    void oneOfAnObjectThatIsClosedIsAcknowledgedAndLeftOut() {
        events.add(QUEUE_PAIR, queuePair);
        events.remove(QUEUE_PAIR, queuePair);
        raised.add(new Raised(1, QUEUE_PAIR));
        raised.add(new Raised(9, 1));

        assertThat(events.poll()).contains(new AsyncEvent.OfPort(AsyncEventType.PORT_ACTIVE, 1));
        assertThat(calls).containsExactly("next 1", "ack 1", "next 9", "ack 9");
    }

    @Test
    void anAddressThatIsUsedAgainIsTheNewObjects() {
        QueuePair next = unused(QueuePair.class);
        events.add(QUEUE_PAIR, queuePair);
        events.add(QUEUE_PAIR, next);
        events.remove(QUEUE_PAIR, queuePair);
        raised.add(new Raised(3, QUEUE_PAIR));

        assertThat(events.poll()).contains(new AsyncEvent.OfQueuePair(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR, next));
    }

    @Test
    void whatANewerLibraryReportsIsNoError() {
        raised.add(new Raised(4711, 0));

        assertThat(events.poll()).contains(new AsyncEvent.OfDevice(AsyncEventType.UNKNOWN));
        assertThat(calls).containsExactly("next 4711", "ack 4711");
    }

    @Test
    void aDeviceThatIsGoneSaysWhy() {
        errno = Errno.EIO;

        assertThatThrownBy(events::poll)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_get_async_event")
                .hasMessageContaining("mlx5_0")
                .hasMessageContaining("EIO");
    }

    @Test
    void theCodesAreThoseOfTheHeader() throws Exception {
        String bindings = Files.readString(Path.of("src/generated/java/trigon/verbs/ffm/generated/Verbs.java"));
        Matcher constants =
                Pattern.compile("int IBV_EVENT_(\\w+) = \\(int\\)(\\d+)L").matcher(bindings);
        Map<Integer, String> header = new TreeMap<>();
        while (constants.find()) {
            header.put(Integer.parseInt(constants.group(2)), constants.group(1));
        }

        assertThat(header).hasSize(20);
        header.forEach((code, name) -> {
            AsyncEventType type = AsyncEventType.ofCode(code);
            assertThat(type.code()).as(name).isEqualTo(code);
            String inWords = name.replace("CQ_", "COMPLETION_QUEUE_")
                    .replace("QP_LAST_WQE", "LAST_WORK_REQUEST")
                    .replace("QP_", "QUEUE_PAIR_")
                    .replace("SRQ_LIMIT_REACHED", "SHARED_RECEIVE_QUEUE_LIMIT")
                    .replace("SRQ_", "SHARED_RECEIVE_QUEUE_")
                    .replace("WQ_", "WORK_QUEUE_")
                    .replace("SQ_", "SEND_QUEUE_")
                    .replace("REQ_", "REQUEST_")
                    .replace("COMM_EST", "COMMUNICATION_ESTABLISHED")
                    .replace("PATH_MIG_ERR", "PATH_MIGRATION_FAILED")
                    .replace("PKEY", "PARTITION_KEY")
                    .replace("SM_", "SUBNET_MANAGER_")
                    .replaceAll("ERR$", "ERROR")
                    .replaceAll("MIG$", "MIGRATED");
            assertThat(type.name()).isEqualTo(inWords);
        });
    }
}
