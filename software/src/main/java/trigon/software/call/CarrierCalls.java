package trigon.software.call;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.stream.ByteStream;
import trigon.system.Memory;

/** A stream of Java's for C: where RDMA carries the bytes to a relay. Under the lock of its queue pair. */
final class CarrierCalls {

    private static final Logger log = LoggerFactory.getLogger(CarrierCalls.class);
    private static final int BROKEN = -2;

    /** A buffer is addressed by ints, so memory is covered by several, which overlap by the longest part. */
    private static final int WINDOW_BITS = 30;

    private static final long WINDOW = 1L << WINDOW_BITS;
    private static final long LONGEST_PART = 1 << 20;
    private static final int KEPT = 8;

    private final ByteStream carrier;

    /** Those used last are kept, so that the same few regions allocate nothing. */
    private final @Nullable ByteBuffer[] windows = new @Nullable ByteBuffer[KEPT];

    private final long[] numbers = new long[KEPT];
    private int oldest;
    final MemorySegment read;
    final MemorySegment write;

    CarrierCalls(ByteStream carrier) {
        this.carrier = carrier;
        read = stub("read");
        write = stub("write");
    }

    private MemorySegment stub(String method) {
        try {
            MethodHandle target = MethodHandles.lookup()
                    .findVirtual(CarrierCalls.class, method, MethodType.methodType(long.class, long.class, long.class))
                    .bindTo(this);
            return Linker.nativeLinker()
                    .upcallStub(target, FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG), Arena.ofAuto());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private ByteBuffer memory(long address, long bytes) {
        int position = (int) (address & WINDOW - 1);
        int end = position + (int) Math.min(bytes, LONGEST_PART);
        return window(address >>> WINDOW_BITS).limit(end).position(position);
    }

    private ByteBuffer window(long number) {
        for (int i = 0; i < KEPT; i++) {
            ByteBuffer kept = windows[i];
            if (kept != null && numbers[i] == number) {
                return kept;
            }
        }
        ByteBuffer made =
                Memory.segment(number << WINDOW_BITS, WINDOW + LONGEST_PART).asByteBuffer();
        windows[oldest] = made;
        numbers[oldest] = number;
        oldest = (oldest + 1) % KEPT;
        return made;
    }

    long read(long address, long bytes) {
        try {
            return carrier.read(memory(address, bytes));
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.debug("{} gives nothing more: {}", carrier, e.toString());
            return BROKEN;
        }
    }

    long write(long address, long bytes) {
        try {
            return carrier.write(memory(address, bytes));
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.debug("{} takes nothing more: {}", carrier, e.toString());
        }
        try {
            carrier.shutdownOutput();
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.debug("{} has ended already: {}", carrier, e.toString());
        }
        return BROKEN;
    }
}
