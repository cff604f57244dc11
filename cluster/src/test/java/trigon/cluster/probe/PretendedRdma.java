package trigon.cluster.probe;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.InterfaceAddress;
import trigon.verbs.DeviceContext;
import trigon.verbs.LinkKind;
import trigon.verbs.LinkLayer;
import trigon.verbs.PortAttributes;
import trigon.verbs.QueuePair;
import trigon.verbs.ResourceLedger;
import trigon.verbs.VerbsProvider;

/**
 * RDMA devices of a node that has none: software devices that call themselves RoCE. One of them may send other bytes
 * than it is told to.
 */
final class PretendedRdma implements VerbsProvider, AutoCloseable {

    /** Which of its writes sends the bytes that are one further. */
    private static final int CHANGED_WRITE = 7;

    private final SoftwareVerbs devices;
    private final boolean changing;

    private PretendedRdma(List<SoftwareDevice> devices, boolean changing) {
        this.devices = new SoftwareVerbs(devices);
        this.changing = changing;
    }

    /** One device for each IPv4 address, by the name of its interface; at the loopback only where there is no other. */
    static PretendedRdma ofThisMachine(boolean loopback, boolean changing) {
        List<SoftwareDevice> devices = new ArrayList<>();
        for (HostInterface each : HostInterfaces.snapshot().interfaces()) {
            Optional<InterfaceAddress> first = each.addresses().stream()
                    .filter(address -> address.address().getAddress().length == 4)
                    .findFirst();
            if (each.up() && each.loopback() == loopback && first.isPresent()) {
                devices.add(new SoftwareDevice(
                        "rdma_" + each.name(),
                        first.get().address(),
                        first.get().prefixLength(),
                        each.speedMbps(),
                        each.index()));
            }
        }
        return new PretendedRdma(devices, changing);
    }

    @Override
    public String name() {
        return "pretended RDMA";
    }

    @Override
    public LinkKind linkKind() {
        return LinkKind.RDMA;
    }

    @Override
    public List<String> deviceNames() {
        return devices.deviceNames();
    }

    @Override
    public DeviceContext open(String deviceName) {
        DeviceContext real = devices.open(deviceName);
        return wrapped(DeviceContext.class, real, (name, result) -> switch (result) {
            case PortAttributes port ->
                new PortAttributes(
                        port.state(),
                        port.activeMtu(),
                        port.maxMessageSize(),
                        port.lid(),
                        LinkLayer.ETHERNET,
                        port.speedMbps());
            case QueuePair queuePair when changing -> changing(queuePair);
            default -> result;
        });
    }

    private static QueuePair changing(QueuePair real) {
        int[] writes = {0};
        return (QueuePair) Proxy.newProxyInstance(
                QueuePair.class.getClassLoader(), new Class<?>[] {QueuePair.class}, (_, method, arguments) -> {
                    if (method.getName().equals("postWrite") && writes[0]++ == CHANGED_WRITE) {
                        arguments[1] = (Long) arguments[1] + 1;
                    }
                    return invoke(() -> method.invoke(real, arguments));
                });
    }

    private interface Change {
        Object of(String method, Object result);
    }

    private interface Call {
        Object run() throws ReflectiveOperationException;
    }

    private static Object invoke(Call call) throws Throwable {
        try {
            return call.run();
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T wrapped(Class<T> type, T real, Change change) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (_, method, arguments) -> {
                    Object result = invoke(() -> method.invoke(real, arguments));
                    return result == null ? null : change.of(method.getName(), result);
                }));
    }

    @Override
    public ResourceLedger ledger() {
        return devices.ledger();
    }

    @Override
    public void close() {
        devices.close();
    }
}
