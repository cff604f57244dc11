package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Errno;
import trigon.verbs.VerbsAvailability;
import trigon.verbs.VerbsAvailability.Available;
import trigon.verbs.VerbsAvailability.Unavailable;
import trigon.verbs.ffm.call.DataPathCalls;
import trigon.verbs.ffm.call.DeviceCalls;
import trigon.verbs.ffm.call.ResourceCalls;
import trigon.verbs.ffm.generated.ibv_qp;
import trigon.verbs.ffm.generated.ibv_qp_attr;
import trigon.verbs.ffm.generated.ibv_qp_init_attr;
import trigon.verbs.ffm.struct.EmptyReceives;
import trigon.verbs.ffm.struct.LayoutCheck;

/**
 * Finds libibverbs on this machine. Nothing of the library is touched before {@link #load()}, and its absence is not an
 * error.
 */
public final class Libibverbs {

    private static final Logger LOG = LoggerFactory.getLogger(Libibverbs.class);

    /** The soname of the library; the generated bindings look it up under the same one. */
    private static final String SONAME = "libibverbs.so.1";

    /** The functions that it must have. The last to appear was {@code ibv_reg_mr_iova2}, in rdma-core 28. */
    private static final List<String> FUNCTIONS = List.of(
            "ibv_ack_async_event",
            "ibv_alloc_pd",
            "ibv_close_device",
            "ibv_create_cq",
            "ibv_create_qp",
            "ibv_dealloc_pd",
            "ibv_dereg_mr",
            "ibv_destroy_cq",
            "ibv_destroy_qp",
            "ibv_fork_init",
            "ibv_free_device_list",
            "ibv_get_async_event",
            "ibv_get_device_list",
            "ibv_get_device_name",
            "ibv_modify_qp",
            "ibv_open_device",
            "ibv_query_device",
            "ibv_query_pkey",
            "ibv_query_port",
            "ibv_query_qp",
            "ibv_reg_mr",
            "ibv_reg_mr_iova2");

    private static final List<Class<?>> NEEDED_BY_CONNECTIONS =
            List.of(ResourceCalls.class, EmptyReceives.class, ibv_qp_init_attr.class, ibv_qp.class, ibv_qp_attr.class);

    private Libibverbs() {}

    /**
     * Returns whether the kernel has any RDMA device. Much cheaper to find out than to load the library, which takes a
     * good part of a process's start.
     */
    public static boolean kernelHasDevices() {
        return !Sysfs.ofThisMachine().deviceNames().isEmpty();
    }

    /**
     * Loads the library. It may be there without any device: then the provider's list of devices is empty.
     *
     * <p>Also makes {@code fork(2)} safe for registered memory ({@code ibv_fork_init(3)}), since the process may be a
     * Python interpreter that forks data loaders. Thread-safe; each call returns a provider with a ledger of its own.
     *
     * @return the provider, or why there is none and what to install
     */
    public static VerbsAvailability load() {
        return load(SONAME);
    }

    /**
     * Looks up the functions that connections need and {@code init} does not, initialises the classes of their structs,
     * and links the calls of the data path: the first connection and the first message take that time otherwise. For a
     * thread that nobody waits for, and only where {@link #load()} found a provider.
     */
    public static void linkAhead() {
        try {
            MethodHandles.Lookup here = MethodHandles.lookup();
            for (Class<?> needed : NEEDED_BY_CONNECTIONS) {
                here.ensureInitialized(needed);
            }
            DataPathCalls.linkAhead();
        } catch (IllegalAccessException e) {
            throw new AssertionError("classes of this package", e);
        }
    }

    static VerbsAvailability load(String soname) {
        Optional<String> obstacle = findObstacle(soname);
        if (obstacle.isPresent()) {
            return new Unavailable(obstacle.get());
        }
        prepareForFork();
        NativeVerbsProvider provider = new NativeVerbsProvider(Sysfs.ofThisMachine());
        provider.warnOfDevicesWithoutDriver();
        return new Available(provider);
    }

    private static Optional<String> findObstacle(String soname) {
        List<String> absent;
        try (Arena arena = Arena.ofConfined()) {
            SymbolLookup library = SymbolLookup.libraryLookup(soname, arena);
            absent = functionsAbsentFrom(library);
        } catch (IllegalArgumentException e) {
            LOG.debug("{} cannot be opened", soname, e);
            return Optional.of(soname + " cannot be opened: install the packages libibverbs1 and ibverbs-providers"
                    + " (Debian, Ubuntu) or libibverbs (Fedora, RHEL, SUSE)");
        } catch (IllegalCallerException e) {
            LOG.debug("native access is denied", e);
            return Optional.of("the JVM does not allow native calls: start it with"
                    + " --enable-native-access=trigon.verbs, or ALL-UNNAMED on the class path");
        }
        if (!absent.isEmpty()) {
            return Optional.of("%s is too old, it lacks %s: install rdma-core 28 or newer"
                    .formatted(soname, String.join(", ", absent)));
        }
        List<String> mismatches = LayoutCheck.mismatches();
        if (!mismatches.isEmpty()) {
            return Optional.of("the structs of the verbs header differ from what the data path was written for: "
                    + String.join("; ", mismatches));
        }
        return Optional.empty();
    }

    private static List<String> functionsAbsentFrom(SymbolLookup library) {
        List<String> absent = new ArrayList<>();
        for (String function : FUNCTIONS) {
            if (library.find(function).isEmpty()) {
                absent.add(function);
            }
        }
        return absent;
    }

    private static void prepareForFork() {
        int errno = DeviceCalls.forkInit();
        if (errno != 0) {
            LOG.debug(
                    "ibv_fork_init failed: {}; memory was registered before, so the process decided already",
                    Errno.name(errno));
        }
    }
}
