package trigon.transport.failure;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.nccl.NcclResult;
import trigon.system.kernel.InterfaceEvent;
import trigon.system.kernel.KernelEvents;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathLoss;
import trigon.verbs.AsyncEvent;
import trigon.verbs.AsyncEventType;
import trigon.verbs.DeviceContext;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

/**
 * Takes what the devices, and the kernel of their interfaces, report by themselves, as soon as they do: its thread
 * waits for both. What makes a path unusable fails it; the rest is logged, with what it means here and what to do. What
 * follows runs on a control thread.
 */
public final class PathMonitor {

    private static final Logger log = LoggerFactory.getLogger(PathMonitor.class);

    /** Reports of a device that are heard at once: more must not keep others from being heard. */
    private static final int MAX_AT_ONCE = 64;

    /** Devices that cannot wake the thread up are asked so often. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    /** NCCL's first calls have the processors first; what happens meanwhile is found then. */
    private static final Duration START = Duration.ofMillis(300);

    /** After a wait, so that a device whose descriptor is always ready costs no processor. */
    private static final Duration REST = Duration.ofMillis(1);

    /** Time in which a peer that ends a connection in order says so on the lifeline. */
    public static final Duration TOLD = Duration.ofSeconds(2);

    private static final long JOIN_MILLIS = 10_000;

    /** An event and whose it is. */
    private record Report(DeviceContext device, AsyncEvent event) {}

    private final Links links;
    private final Executor control;
    private final Executor onceTold;
    private final LinkStates states;
    private final Set<DeviceContext> known = new HashSet<>();
    private final AtomicBoolean reopening = new AtomicBoolean();
    private final Set<DeviceContext> devices = new HashSet<>();
    private final Thread thread = new Thread(this::run, "trigon-events");
    private @Nullable KernelEvents kernel;
    private final CountDownLatch stopped = new CountDownLatch(1);

    /**
     * Nothing is asked before {@link #start}.
     *
     * @param control runs what may block
     * @param onceTold the same, {@link #TOLD} later
     * @param newLinks runs when there may be more links than before
     */
    public PathMonitor(Links links, Executor control, Executor onceTold, Runnable newLinks) {
        this.links = links;
        this.control = control;
        this.onceTold = onceTold;
        states = new LinkStates(links, newLinks);
        thread.setDaemon(true);
    }

    /**
     * Listens from now on. How the links are is known when this returns: connections are made before the thread runs.
     */
    public void start() {
        try {
            states.lookAtAll();
        } catch (RuntimeException e) {
            log.warn("cannot tell yet which links are up: {}", e.getMessage());
        }
        thread.start();
    }

    /** Listens no more; waits for a look that is under way. The devices may be closed afterwards. */
    public void stop() {
        stopped.countDown();
        wakeUp();
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void wakeUp() {
        if (kernel != null) {
            kernel.wakeUp();
        }
    }

    private void run() {
        if (awaitStop(START)) {
            return;
        }
        try (KernelEvents opened = new KernelEvents()) {
            synchronized (this) {
                kernel = opened;
            }
            states.lookAtAll();
            do {
                reopenDevices();
                addDevices().forEach(device -> device.whenAsyncEvent(opened::wakeUp));
                look();
                List<InterfaceEvent> events = opened.await(descriptors(), LOOK);
                if (!events.isEmpty()) {
                    states.take(events);
                }
            } while (!awaitStop(REST));
            devices.forEach(device -> device.whenAsyncEvent(() -> {}));
        } catch (IOException | RuntimeException | Error e) {
            log.warn("events of devices and links are polled only once a second", e);
            synchronized (this) {
                kernel = null;
            }
            while (!awaitStop(LOOK)) {
                reopenDevices();
                addDevices();
                look();
            }
        }
    }

    private boolean awaitStop(Duration time) {
        try {
            return stopped.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            return true; // nobody but the end of the process does that
        }
    }

    /** Those that have failed as a whole may be there again: plugged in, or reset by their drivers. */
    private void reopenDevices() {
        if (links.all().stream().anyMatch(Link::hasDeviceFailed) && reopening.compareAndSet(false, true)) {
            control.execute(() -> {
                try {
                    links.reopenFailed()
                            .forEach(link -> log.warn(
                                    "{}: its device {} is back; connections can use it again",
                                    link,
                                    link.device().deviceName()));
                } catch (RuntimeException e) {
                    log.warn("cannot reopen failed devices: {}", e.getMessage());
                } finally {
                    reopening.set(false);
                }
            });
        }
    }

    /** Those of links that have come since. */
    private List<DeviceContext> addDevices() {
        List<DeviceContext> added = new ArrayList<>();
        for (Link link : links.all()) {
            if (known.add(link.device())) {
                devices.add(link.device());
                added.add(link.device());
            }
        }
        return added;
    }

    private int[] descriptors() {
        return devices.stream()
                .flatMapToInt(device -> device.asyncEventDescriptor().stream())
                .toArray();
    }

    /** One look at all devices. */
    private void look() {
        List<Report> reports = new ArrayList<>();
        devices.removeIf(device -> !ask(device, reports));
        if (!reports.isEmpty()) {
            control.execute(() -> reports.forEach(this::handle));
        }
    }

    /** Returns whether to ask it again. */
    private static boolean ask(DeviceContext device, List<Report> reports) {
        try {
            for (int i = 0; i < MAX_AT_ONCE; i++) {
                Optional<AsyncEvent> event = device.pollAsyncEvent();
                if (event.isEmpty()) {
                    return true;
                }
                reports.add(new Report(device, event.get()));
            }
            return true;
        } catch (VerbsException e) {
            log.warn(
                    "{} no longer reports its own failures: {}. Connections over it still fail with their"
                            + " requests, or when the peer is silent",
                    device.deviceName(),
                    e.getMessage());
            return false;
        }
    }

    private void handle(Report report) {
        try {
            switch (report.event) {
                case AsyncEvent.OfQueuePair(AsyncEventType type, var queuePair) ->
                    ofPath(report.device, type, path -> path.queuePair().equals(queuePair));
                case AsyncEvent.OfCompletionQueue(AsyncEventType type, var completionQueue) ->
                    ofPath(report.device, type, path -> path.completionQueue().equals(completionQueue));
                case AsyncEvent.OfPort(AsyncEventType type, int port) -> ofPort(report.device, type, port);
                case AsyncEvent.OfDevice(AsyncEventType type) -> ofDevice(report.device, type);
            }
        } catch (RuntimeException e) {
            log.warn("{}: handling of {} failed", report.device.deviceName(), report.event, e);
        }
    }

    private void ofPath(DeviceContext device, AsyncEventType type, Predicate<PathChannel> concerned) {
        Optional<PathChannel> found = links.all().stream()
                .filter(link -> link.device().equals(device))
                .flatMap(link -> link.paths().stream())
                .filter(concerned)
                .findFirst();
        if (found.isEmpty()) {
            log.debug("{}: {} of a connection that is closed", device.deviceName(), type);
            return;
        }
        switch (type) {
            case QUEUE_PAIR_FATAL, COMPLETION_QUEUE_ERROR -> {
                found.get().failedRequests().expectNoCompletions();
                failOrRescue(found.get(), NcclResult.SYSTEM_ERROR, words(device, type));
            }
            case QUEUE_PAIR_REQUEST_ERROR, QUEUE_PAIR_ACCESS_ERROR ->
                fail(found.get(), device, type, NcclResult.REMOTE_ERROR);
            case CONNECTION_BROKEN -> onceTold.execute(() -> ofBrokenConnection(found.get(), type));
            default -> log.debug("{}: {}, {}", found.get(), type, type.explanation());
        }
    }

    private static void fail(PathChannel path, DeviceContext device, AsyncEventType type, NcclResult result) {
        fail(path, result, words(device, type));
    }

    private static String words(DeviceContext device, AsyncEventType type) {
        return "device %s reports %s: %s; see dmesg and at the first error on either node"
                .formatted(device.deviceName(), type, type.explanation());
    }

    /** The connection may go on over another path. */
    private static void failOrRescue(PathChannel path, NcclResult result, String why) {
        if (!path.keeper().takeOver(PathLoss.ofConnection(result, why))) {
            fail(path, result, why);
        }
    }

    /** Says that messages may be lost. Where the peer has gone, that is why, and its lifeline says it. */
    private static void ofBrokenConnection(PathChannel path, AsyncEventType type) {
        if (path.isPeerLeaving() || path.loss() != null || hasFailed(path)) {
            log.debug("{}: {}, since the peer has ended its part, or a request has told", path, type);
            return;
        }
        String why = "%s: %s, though the peer is alive, so something on or between the nodes closed it: "
                        .formatted(type, type.explanation())
                + "look for a firewall that drops idle connections, or a tool that closes sockets (ss -K)";
        failOrRescue(path, NcclResult.REMOTE_ERROR, why);
    }

    private static boolean hasFailed(PathChannel path) {
        boolean closed = !path.link().paths().contains(path);
        return closed || path.queuePair().queryState() == QueuePairStateCode.ERROR;
    }

    private static void fail(PathChannel path, NcclResult result, String why) {
        if (path.giveUp(result, PathLoss.ofConnection(result, why).failure())) {
            path.endQueuePair();
            log.warn("{}: {}. Requests that are not finished return {}", path, why, result);
        }
    }

    private void ofDevice(DeviceContext device, AsyncEventType type) {
        if (type != AsyncEventType.DEVICE_FATAL) {
            log.debug("{}: {}, {}", device.deviceName(), type, type.explanation());
            return;
        }
        String concerned = names(links.all().stream()
                .filter(link -> link.device().equals(device))
                .toList());
        log.warn(
                "{}: {}, {}. All connections over {} fail; see dmesg, and restart the job when the device is back",
                device.deviceName(),
                type,
                type.explanation(),
                concerned);
        for (Link link : links.all()) {
            if (link.device().equals(device)) {
                link.deviceHasFailed();
                link.paths().forEach(path -> failOrRescue(path, NcclResult.SYSTEM_ERROR, words(device, type)));
            }
        }
    }

    private void ofPort(DeviceContext device, AsyncEventType type, int port) {
        List<Link> concerned = links.all().stream()
                .filter(link -> link.device().equals(device) && link.local().port() == port)
                .toList();
        if (concerned.isEmpty()) {
            log.debug("{} port {}, which is not used: {}", device.deviceName(), port, type);
            return;
        }
        String where = "%s port %d (%s): %s, %s"
                .formatted(device.deviceName(), port, names(concerned), type, type.explanation());
        switch (type) {
            case PORT_ERROR -> {
                log.warn(
                        "{}. Connections over it fail unless it is up again within queuePair.timeout and"
                                + " handshake.peerTimeout; check cable, switch, and ip link show",
                        where);
                concerned.forEach(link -> link.setPortUp(false));
                concerned.forEach(
                        link -> link.paths().forEach(path -> path.keeper().suspect()));
            }
            case PORT_ACTIVE -> {
                log.info("{}. Connections that have not failed continue", where);
                concerned.forEach(link -> link.setPortUp(true));
            }
            case GID_CHANGE -> ofGidTable(device, port, concerned, where);
            case LID_CHANGE, PARTITION_KEY_CHANGE ->
                log.warn("{}. Connections made before may fail; restart the job if they do", where);
            default -> log.info("{}. Connections are unaffected", where);
        }
    }

    /** Most changes are those of other addresses. */
    private static void ofGidTable(DeviceContext device, int port, List<Link> concerned, String where) {
        var entries = device.gidTable(port);
        List<Link> lost = concerned.stream()
                .filter(link -> entries.stream()
                        .noneMatch(entry -> entry.gid().equals(link.local().gid())))
                .toList();
        if (lost.isEmpty()) {
            log.info("{}. The GIDs in use are still there", where); // new connections look for their places
        } else {
            log.warn(
                    "{}. The GID of {} is gone: nothing arrives over it, and its connections fail; restore the"
                            + " address (ip addr), and restart the job",
                    where,
                    names(lost));
        }
    }

    private static String names(List<Link> links) {
        return links.stream().map(Objects::toString).collect(Collectors.joining(", "));
    }
}
