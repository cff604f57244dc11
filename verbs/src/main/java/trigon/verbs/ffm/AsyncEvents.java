package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Errno;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;
import trigon.verbs.CompletionQueue;
import trigon.verbs.QueuePair;
import trigon.verbs.VerbsException;
import trigon.verbs.ffm.call.AsyncEventCalls;
import trigon.verbs.ffm.call.AsyncEventSource;
import trigon.verbs.ffm.generated.ibv_async_event;

/**
 * The asynchronous events of one device, and the objects that they may be about.
 *
 * <p>An object is looked up before its event is acknowledged: until then libibverbs lets nobody destroy it, so that its
 * address cannot belong to another one yet. Objects are added and removed on any thread.
 */
final class AsyncEvents {

    private static final Logger LOG = LoggerFactory.getLogger(AsyncEvents.class);

    private final String deviceName;
    private final long context;
    private final Map<Long, Object> objects = new ConcurrentHashMap<>();

    private volatile boolean toldOfItsEnd;

    /** Made by the first poll: most of the cost is that of the first use of its functions. */
    private @Nullable AsyncEventSource source;

    /** The events of the {@code struct ibv_context} there. */
    AsyncEvents(String deviceName, long context) {
        this.deviceName = deviceName;
        this.context = context;
    }

    AsyncEvents(String deviceName, AsyncEventSource source) {
        this(deviceName, 0);
        this.source = source;
    }

    /** A queue pair or completion queue was created, with its struct there. */
    void add(long address, Object object) {
        objects.put(address, object);
    }

    /** It was destroyed; another one may be there already. */
    void remove(long address, Object object) {
        objects.remove(address, object);
    }

    /** Tells whether one was that the device has failed as a whole. */
    boolean haveToldOfItsEnd() {
        return toldOfItsEnd;
    }

    /** {@link trigon.verbs.DeviceContext#pollAsyncEvent}. */
    Optional<AsyncEvent> poll() {
        AsyncEventSource events = source;
        if (events == null) {
            events = AsyncEventCalls.of(deviceName, context);
            source = events;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = ibv_async_event.allocate(arena);
            while (true) {
                int errno = events.next(event);
                if (errno == Errno.EAGAIN) {
                    return Optional.empty();
                }
                if (errno != 0) {
                    throw new VerbsException("ibv_get_async_event", deviceName, errno, "");
                }
                Optional<AsyncEvent> taken;
                try {
                    taken = read(event);
                } finally {
                    events.acknowledge(event);
                }
                if (taken.isPresent()) {
                    return taken;
                }
            }
        }
    }

    /** Empty if it is about an object that is not here any more. */
    private Optional<AsyncEvent> read(MemorySegment event) {
        int code = ibv_async_event.event_type(event);
        AsyncEventType type = AsyncEventType.ofCode(code);
        MemorySegment element = ibv_async_event.element(event);
        return switch (type.scope()) {
            case QUEUE_PAIR -> {
                long address = ibv_async_event.element.qp(element).address();
                yield objects.get(address) instanceof QueuePair queuePair
                        ? Optional.of(new AsyncEvent.OfQueuePair(type, queuePair))
                        : unknownObject(type, address);
            }
            case COMPLETION_QUEUE -> {
                long address = ibv_async_event.element.cq(element).address();
                yield objects.get(address) instanceof CompletionQueue completionQueue
                        ? Optional.of(new AsyncEvent.OfCompletionQueue(type, completionQueue))
                        : unknownObject(type, address);
            }
            case PORT -> Optional.of(new AsyncEvent.OfPort(type, ibv_async_event.element.port_num(element)));
            case DEVICE -> {
                if (type == AsyncEventType.DEVICE_FATAL) {
                    toldOfItsEnd = true;
                }
                yield Optional.of(new AsyncEvent.OfDevice(type));
            }
            case OTHER -> {
                LOG.debug("{}: event {} ({})", deviceName, type, code);
                yield Optional.of(new AsyncEvent.OfDevice(type));
            }
        };
    }

    private Optional<AsyncEvent> unknownObject(AsyncEventType type, long address) {
        LOG.debug("{}: {} of what is at 0x{}, which is closed", deviceName, type, Long.toHexString(address));
        return Optional.empty();
    }
}
