package trigon.onesided.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * The functions of the CUDA driver that staging and flushes need, found at run time: it is never linked. Each returns a
 * {@code CUresult}, 0 for success. Any thread.
 *
 * @see <a href="https://docs.nvidia.com/cuda/cuda-driver-api/">the driver's documentation</a>
 */
public final class CudaDriver {

    private static final String LIBRARY = "libcuda.so.1";

    private final MethodHandle getCurrent;
    private final MethodHandle setCurrent;
    private final MethodHandle attribute;
    private final MethodHandle streamCreate;
    private final MethodHandle streamDestroy;
    private final MethodHandle streamSynchronize;
    private final MethodHandle eventCreate;
    private final MethodHandle eventDestroy;
    private final MethodHandle eventRecord;
    private final MethodHandle eventQuery;
    private final MethodHandle copy;
    private final MethodHandle writeValue;
    private final MethodHandle register;
    private final MethodHandle unregister;
    private final MethodHandle device;
    private final MethodHandle deviceAttribute;
    private final MethodHandle retainPrimaryContext;
    private final MethodHandle releasePrimaryContext;
    private final MethodHandle flushWrites;

    private CudaDriver(SymbolLookup library) {
        getCurrent = find(library, "cuCtxGetCurrent", "l");
        setCurrent = find(library, "cuCtxSetCurrent", "l");
        attribute = find(library, "cuPointerGetAttribute", "lil");
        streamCreate = find(library, "cuStreamCreate", "li");
        streamDestroy = find(library, "cuStreamDestroy_v2", "l");
        streamSynchronize = find(library, "cuStreamSynchronize", "l");
        eventCreate = find(library, "cuEventCreate", "li");
        eventDestroy = find(library, "cuEventDestroy_v2", "l");
        eventRecord = find(library, "cuEventRecord", "ll");
        eventQuery = find(library, "cuEventQuery", "l");
        copy = find(library, "cuMemcpyAsync", "llll");
        writeValue = find(library, "cuStreamWriteValue64_v2", "llli");
        register = find(library, "cuMemHostRegister_v2", "lli");
        unregister = find(library, "cuMemHostUnregister", "l");
        device = find(library, "cuDeviceGet", "li");
        deviceAttribute = find(library, "cuDeviceGetAttribute", "lii");
        retainPrimaryContext = find(library, "cuDevicePrimaryCtxRetain", "li");
        releasePrimaryContext = find(library, "cuDevicePrimaryCtxRelease_v2", "i");
        flushWrites = find(library, "cuFlushGPUDirectRDMAWrites", "ii");
    }

    /** The driver; nothing where there is none, or it is too old. */
    public static Optional<CudaDriver> load() {
        try {
            return Optional.of(new CudaDriver(SymbolLookup.libraryLookup(LIBRARY, Arena.global())));
        } catch (IllegalArgumentException notThere) {
            return Optional.empty();
        }
    }

    private static MethodHandle find(SymbolLookup library, String name, String parameters) {
        FunctionDescriptor descriptor = FunctionDescriptor.of(ValueLayout.JAVA_INT);
        for (int i = 0; i < parameters.length(); i++) {
            descriptor = descriptor.appendArgumentLayouts(
                    parameters.charAt(i) == 'l' ? ValueLayout.JAVA_LONG : ValueLayout.JAVA_INT);
        }
        return Linker.nativeLinker()
                .downcallHandle(
                        library.find(name).orElseThrow(() -> new IllegalArgumentException(LIBRARY + " has no " + name)),
                        descriptor);
    }

    private static AssertionError impossible(Throwable thrown) {
        return new AssertionError("a downcall throws nothing", thrown);
    }

    int getCurrent(long contextOut) {
        try {
            return (int) getCurrent.invokeExact(contextOut);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int setCurrent(long context) {
        try {
            return (int) setCurrent.invokeExact(context);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int attribute(long out, int attributeNumber, long pointer) {
        try {
            return (int) attribute.invokeExact(out, attributeNumber, pointer);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int streamCreate(long streamOut, int flags) {
        try {
            return (int) streamCreate.invokeExact(streamOut, flags);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int streamDestroy(long stream) {
        try {
            return (int) streamDestroy.invokeExact(stream);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int streamSynchronize(long stream) {
        try {
            return (int) streamSynchronize.invokeExact(stream);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int eventCreate(long eventOut, int flags) {
        try {
            return (int) eventCreate.invokeExact(eventOut, flags);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int eventDestroy(long event) {
        try {
            return (int) eventDestroy.invokeExact(event);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int eventRecord(long event, long stream) {
        try {
            return (int) eventRecord.invokeExact(event, stream);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int eventQuery(long event) {
        try {
            return (int) eventQuery.invokeExact(event);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int copy(long to, long from, long bytes, long stream) {
        try {
            return (int) copy.invokeExact(to, from, bytes, stream);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int writeValue(long stream, long address, long value) {
        try {
            return (int) writeValue.invokeExact(stream, address, value, 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int register(long address, long bytes) {
        try {
            return (int) register.invokeExact(address, bytes, 0);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int unregister(long address) {
        try {
            return (int) unregister.invokeExact(address);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int device(long deviceOut, int ordinal) {
        try {
            return (int) device.invokeExact(deviceOut, ordinal);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int deviceAttribute(long out, int attributeNumber, int device) {
        try {
            return (int) deviceAttribute.invokeExact(out, attributeNumber, device);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int retainPrimaryContext(long contextOut, int device) {
        try {
            return (int) retainPrimaryContext.invokeExact(contextOut, device);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int releasePrimaryContext(int device) {
        try {
            return (int) releasePrimaryContext.invokeExact(device);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }

    int flushWrites(int target, int scope) {
        try {
            return (int) flushWrites.invokeExact(target, scope);
        } catch (Throwable e) {
            throw impossible(e);
        }
    }
}
