package trigon.verbs;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An open device ({@code struct ibv_context}).
 *
 * <p>Thread-safe, as libibverbs is. Everything created from it must be closed before it. All methods may block.
 */
public interface DeviceContext extends AutoCloseable {

    /** The device's name, for example {@code mlx5_0} or {@code rxe_ab}. */
    String deviceName();

    /** {@code ibv_query_device(3)}. */
    DeviceAttributes attributes();

    /**
     * {@code ibv_query_port(3)}.
     *
     * @param port 1 to {@link DeviceAttributes#portCount}
     */
    PortAttributes queryPort(int port);

    /** The valid entries of a port's GID table, by index. {@code ibv_query_gid_ex(3)}. */
    List<GidEntry> gidTable(int port);

    /**
     * Returns where a port's partition table has the key to use: that of the default partition, or else the first one
     * with full membership. {@code ibv_query_pkey(3)}.
     *
     * @throws VerbsException if the port has keys of limited membership alone: such ports do not hear each other
     */
    default int partitionKeyIndex(int port) {
        return 0;
    }

    /** Its access to memory of GPUs. Tries it, so the answer is to be kept. */
    default DeviceMemory deviceMemory() {
        return DeviceMemory.unreachable("it copies by the CPU");
    }

    /** {@code ibv_alloc_pd(3)}. */
    ProtectionDomain allocateProtectionDomain();

    /**
     * {@code ibv_create_cq(3)}.
     *
     * @param entries the least number of completions it must hold
     */
    CompletionQueue createCompletionQueue(int entries);

    /** {@code ibv_create_qp(3)}: a reliable connected queue pair in state RESET. */
    QueuePair createQueuePair(ProtectionDomain protectionDomain, QueuePairCapacity capacity);

    /**
     * Takes the oldest of the events that the device has reported by itself, and acknowledges it. Never blocks; by one
     * thread at a time, and not while the device is closed.
     *
     * @return empty if there is none
     * @throws VerbsException if events cannot be read
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_get_async_event.3.html">ibv_get_async_event(3)</a>
     */
    Optional<AsyncEvent> pollAsyncEvent();

    /**
     * A descriptor that {@code poll(2)} finds readable when {@link #pollAsyncEvent} has something. The device's own,
     * for as long as it is open. Empty for a device without one, which runs what {@link #whenAsyncEvent} was given.
     */
    default OptionalInt asyncEventDescriptor() {
        return OptionalInt.empty();
    }

    /**
     * Has something run whenever {@link #pollAsyncEvent} may have something new; only on devices without an {@link
     * #asyncEventDescriptor}.
     *
     * @param tell returns at once; on any thread. It takes the place of the one before
     */
    default void whenAsyncEvent(Runnable tell) {}

    /** {@code ibv_close_device(3)}. Closing twice is allowed. */
    @Override
    void close();
}
