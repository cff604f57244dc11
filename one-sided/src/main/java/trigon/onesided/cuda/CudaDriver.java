package trigon.onesided.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;
import trigon.system.NativeFunction;

/**
 * The functions of the CUDA driver that staging and flushes need, found at run time: it is never linked. Each returns a
 * {@code CUresult}, 0 for success. Any thread.
 *
 * @see <a href="https://docs.nvidia.com/cuda/cuda-driver-api/">the driver's documentation</a>
 */
public final class CudaDriver {

    private static final String LIBRARY = "libcuda.so.1";

    private final NativeFunction getCurrent;
    private final NativeFunction setCurrent;
    private final NativeFunction attribute;
    private final NativeFunction streamCreate;
    private final NativeFunction streamDestroy;
    private final NativeFunction streamSynchronize;
    private final NativeFunction eventCreate;
    private final NativeFunction eventDestroy;
    private final NativeFunction eventRecord;
    private final NativeFunction eventQuery;
    private final NativeFunction copy;
    private final NativeFunction writeValue;
    private final NativeFunction register;
    private final NativeFunction unregister;
    private final NativeFunction device;
    private final NativeFunction deviceAttribute;
    private final NativeFunction retainPrimaryContext;
    private final NativeFunction releasePrimaryContext;
    private final NativeFunction flushWrites;

    private CudaDriver(SymbolLookup library) {
        getCurrent = find(library, "cuCtxGetCurrent");
        setCurrent = find(library, "cuCtxSetCurrent");
        attribute = find(library, "cuPointerGetAttribute");
        streamCreate = find(library, "cuStreamCreate");
        streamDestroy = find(library, "cuStreamDestroy_v2");
        streamSynchronize = find(library, "cuStreamSynchronize");
        eventCreate = find(library, "cuEventCreate");
        eventDestroy = find(library, "cuEventDestroy_v2");
        eventRecord = find(library, "cuEventRecord");
        eventQuery = find(library, "cuEventQuery");
        copy = find(library, "cuMemcpyAsync");
        writeValue = find(library, "cuStreamWriteValue64_v2");
        register = find(library, "cuMemHostRegister_v2");
        unregister = find(library, "cuMemHostUnregister");
        device = find(library, "cuDeviceGet");
        deviceAttribute = find(library, "cuDeviceGetAttribute");
        retainPrimaryContext = find(library, "cuDevicePrimaryCtxRetain");
        releasePrimaryContext = find(library, "cuDevicePrimaryCtxRelease_v2");
        flushWrites = find(library, "cuFlushGPUDirectRDMAWrites");
    }

    /** The driver; nothing where there is none, or it is too old. */
    public static Optional<CudaDriver> load() {
        try {
            return Optional.of(new CudaDriver(SymbolLookup.libraryLookup(LIBRARY, Arena.global())));
        } catch (IllegalArgumentException notThere) {
            return Optional.empty();
        }
    }

    private static NativeFunction find(SymbolLookup library, String name) {
        return NativeFunction.find(library, name)
                .orElseThrow(() -> new IllegalArgumentException(LIBRARY + " has no " + name));
    }

    int getCurrent(long contextOut) {
        return (int) getCurrent.call(contextOut);
    }

    int setCurrent(long context) {
        return (int) setCurrent.call(context);
    }

    int attribute(long out, int attributeNumber, long pointer) {
        return (int) attribute.call(out, attributeNumber, pointer);
    }

    int streamCreate(long streamOut, int flags) {
        return (int) streamCreate.call(streamOut, flags);
    }

    int streamDestroy(long stream) {
        return (int) streamDestroy.call(stream);
    }

    int streamSynchronize(long stream) {
        return (int) streamSynchronize.call(stream);
    }

    int eventCreate(long eventOut, int flags) {
        return (int) eventCreate.call(eventOut, flags);
    }

    int eventDestroy(long event) {
        return (int) eventDestroy.call(event);
    }

    int eventRecord(long event, long stream) {
        return (int) eventRecord.call(event, stream);
    }

    int eventQuery(long event) {
        return (int) eventQuery.call(event);
    }

    int copy(long to, long from, long bytes, long stream) {
        return (int) copy.call(to, from, bytes, stream);
    }

    int writeValue(long stream, long address, long value) {
        return (int) writeValue.call(stream, address, value, 0);
    }

    int register(long address, long bytes) {
        return (int) register.call(address, bytes, 0);
    }

    int unregister(long address) {
        return (int) unregister.call(address);
    }

    int device(long deviceOut, int ordinal) {
        return (int) device.call(deviceOut, ordinal);
    }

    int deviceAttribute(long out, int attributeNumber, int device) {
        return (int) deviceAttribute.call(out, attributeNumber, device);
    }

    int retainPrimaryContext(long contextOut, int device) {
        return (int) retainPrimaryContext.call(contextOut, device);
    }

    int releasePrimaryContext(int device) {
        return (int) releasePrimaryContext.call(device);
    }

    int flushWrites(int target, int scope) {
        return (int) flushWrites.call(target, scope);
    }
}
