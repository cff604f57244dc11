package trigon.verbs.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Errno;
import trigon.verbs.DeviceContext;
import trigon.verbs.LinkKind;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.call.DeviceCalls;

/** The devices of libibverbs. Thread-safe. */
final class NativeVerbsProvider implements VerbsProvider {

    private static final Logger LOG = LoggerFactory.getLogger(NativeVerbsProvider.class);

    private final Sysfs sysfs;
    private final ResourceLedger ledger = new ResourceLedger();

    NativeVerbsProvider(Sysfs sysfs) {
        this.sysfs = sysfs;
    }

    @Override
    public String name() {
        return "libibverbs";
    }

    @Override
    public LinkKind linkKind() {
        return LinkKind.RDMA;
    }

    @Override
    public ResourceLedger ledger() {
        return ledger;
    }

    /** Tells the user of devices that the kernel has and libibverbs cannot drive. */
    void warnOfDevicesWithoutDriver() {
        List<String> missing = new ArrayList<>(sysfs.deviceNames());
        if (!missing.isEmpty()) {
            missing.removeAll(deviceNames());
        }
        if (!missing.isEmpty()) {
            LOG.warn(
                    "the kernel has RDMA devices that libibverbs does not list: {}; install their user-space drivers"
                            + " (package ibverbs-providers or libibverbs), load the kernel module ib_uverbs, and in a"
                            + " container pass /dev/infiniband into it",
                    missing);
        }
    }

    @Override
    public List<String> deviceNames() {
        try (DeviceList devices = DeviceList.get()) {
            return devices.names();
        }
    }

    @Override
    public DeviceContext open(String deviceName) {
        try (DeviceList devices = DeviceList.get()) {
            int index = devices.names().indexOf(deviceName);
            if (index < 0) {
                throw new VerbsException(
                        "ibv_open_device",
                        deviceName,
                        Errno.ENODEV,
                        devices.names().isEmpty()
                                ? "libibverbs lists no device"
                                : "the devices are " + String.join(", ", devices.names()));
            }
            long context = DeviceCalls.openDevice(devices.device(index));
            if (context < 0) {
                int errno = (int) -context;
                throw new VerbsException("ibv_open_device", deviceName, errno, Advice.onOpening(errno));
            }
            return new NativeDeviceContext(deviceName, context, sysfs, ledger);
        }
    }

    /** The array that {@code ibv_get_device_list(3)} returns; a device opened from it outlives it. */
    private record DeviceList(OptionalLong address, List<MemorySegment> devices, List<String> names)
            implements AutoCloseable {

        static DeviceList get() {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
                long list = DeviceCalls.getDeviceList(count);
                if (list < 0) {
                    logAbsence((int) -list);
                    return new DeviceList(OptionalLong.empty(), List.of(), List.of());
                }
                int length = count.get(ValueLayout.JAVA_INT, 0);
                MemorySegment array =
                        MemorySegment.ofAddress(list).reinterpret(length * ValueLayout.ADDRESS.byteSize());
                List<MemorySegment> devices = new ArrayList<>();
                List<String> names = new ArrayList<>();
                for (int i = 0; i < length; i++) {
                    MemorySegment device = array.getAtIndex(ValueLayout.ADDRESS, i);
                    devices.add(device);
                    names.add(DeviceCalls.getDeviceName(device));
                }
                return new DeviceList(OptionalLong.of(list), List.copyOf(devices), List.copyOf(names));
            }
        }

        private static void logAbsence(int errno) {
            if (errno == Errno.ENOSYS) {
                LOG.debug("the kernel has no RDMA support loaded (module ib_uverbs)");
            } else {
                LOG.warn("ibv_get_device_list failed: {}; continuing without RDMA devices", Errno.name(errno));
            }
        }

        MemorySegment device(int index) {
            return devices.get(index);
        }

        /** Frees the list; where there is none, freeing it would crash. */
        @Override
        public void close() {
            address.ifPresent(DeviceCalls::freeDeviceList);
        }
    }
}
