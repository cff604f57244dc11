package trigon.cluster.rdma;

import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.rdma.RdmaEnd.Written;
import trigon.routing.LocalLink;
import trigon.system.Errno;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletionStatus;

/**
 * This node's ends of transfers over RDMA. It is told step by step what to do, and what the other end has said. A step
 * that fails is an answer, too: {@code failed} names it. One thread asks. A device that does not return from a call is
 * left alone until it does.
 */
public final class RdmaEnds implements AutoCloseable {

    private static final long STEP_SECONDS = 20;
    private static final long WRITE_MILLIS = 10_000;
    private static final int BURSTS = 5;
    private static final long RATE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_BYTES = 16 << 20;
    private static final int MAX_OPEN = 16;

    private final Supplier<MachineLinks> links;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, RdmaEnd> ends = new ConcurrentHashMap<>();

    /** The step that was waited for in vain. */
    private @Nullable FutureTask<?> late;

    /**
     * Ends of this machine's links.
     *
     * @param links as they are now, with each call
     */
    public RdmaEnds(Supplier<MachineLinks> links) {
        this.links = links;
    }

    /**
     * Does a step.
     *
     * @throws IllegalArgumentException if there is no such step, or no such end
     */
    public Map<String, Object> answer(JsonObject question) {
        String step = question.text("step");
        if (isStuck()) {
            return failed(step, "", "the device has not returned from a call before this one");
        }
        FutureTask<Map<String, Object>> task = new FutureTask<>(() -> attempt(step, question));
        Thread.ofPlatform().name("trigon-probe-rdma").daemon().start(task);
        try {
            return task.get(STEP_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException _) {
            late = task;
            return failed(step, "", "the device has not returned from it within " + STEP_SECONDS + " s");
        } catch (ExecutionException e) {
            throw new IllegalArgumentException(e.getCause());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            late = task;
            return failed(step, "", "interrupted");
        }
    }

    private boolean isStuck() {
        return late != null && !late.isDone();
    }

    private Map<String, Object> attempt(String step, JsonObject question) {
        try {
            return switch (step) {
                case "open" -> open(question);
                case "INIT to READY_TO_RECEIVE" -> {
                    end(question).readyToReceive(endpoint(question));
                    yield Json.object();
                }
                case "READY_TO_RECEIVE to READY_TO_SEND" -> {
                    end(question).readyToSend();
                    yield Json.object();
                }
                case "write" -> write(end(question), question);
                case "check" -> check(end(question), question);
                case "close" -> close(question.text("id"));
                default -> throw new IllegalArgumentException("unknown step of RDMA: " + step);
            };
        } catch (VerbsException e) {
            return failed(step, Errno.name(e.errno()), String.valueOf(e.getMessage()));
        }
    }

    private static Map<String, Object> failed(String step, String errno, String why) {
        return Json.object("failed", step, "errno", errno, "why", why);
    }

    private Map<String, Object> open(JsonObject question) {
        MachineLinks now = links.get();
        InetAddress address = InterfaceAddress.parseAddress(question.text("address"));
        Optional<LocalLink> link = now.discovered().links().stream()
                .filter(each -> each.kind() == LinkKind.RDMA
                        && each.address().address().equals(address)
                        && each.deviceName().equals(question.text("device")))
                .findFirst();
        if (link.isEmpty() || now.provider().isEmpty()) {
            return failed("open", "", question.text("device") + " serves " + question.text("address") + " no more");
        }
        if (ends.size() >= MAX_OPEN) {
            throw new IllegalArgumentException("more than " + MAX_OPEN + " queue pairs are open");
        }
        RdmaEnd end = new RdmaEnd(
                now.provider().get(),
                link.get(),
                now.config().queuePair(),
                Math.clamp(question.whole("bytes"), 1, MAX_BYTES),
                random.nextInt(1 << 24));
        RdmaEnd before = ends.put(question.text("id"), end);
        if (before != null) {
            before.close();
        }
        end.prepare(question.whole("seed"), question.whole("expected"));
        QueuePairEndpoint endpoint = end.endpoint();
        Map<String, Object> said = Json.object(
                "device", link.get().deviceName(),
                "number", endpoint.number(),
                "psn", endpoint.psn(),
                "gid", HexFormat.of().formatHex(endpoint.gid().toBytes()),
                "gidText", endpoint.gid().toString(),
                "gidIndex", link.get().gidIndex(),
                "gidType", end.gidType(),
                "lid", endpoint.lid(),
                "mtu", endpoint.mtu().bytes(),
                "address", Long.toHexString(end.target().address()),
                "key", Integer.toHexString(end.target().remoteKey()));
        try {
            end.initialize();
        } catch (VerbsException e) {
            said.putAll(failed("RESET to INIT", Errno.name(e.errno()), String.valueOf(e.getMessage())));
        }
        return said;
    }

    private RdmaEnd end(JsonObject question) {
        RdmaEnd end = ends.get(question.text("id"));
        if (end == null) {
            throw new IllegalArgumentException("there is no queue pair " + question.text("id"));
        }
        return end;
    }

    private static QueuePairEndpoint endpoint(JsonObject question) {
        JsonObject peer = question.object("peer");
        return new QueuePairEndpoint(
                (int) peer.whole("number"),
                (int) peer.whole("psn"),
                Gid.ofBytes(HexFormat.of().parseHex(peer.text("gid"))),
                (int) peer.whole("lid"),
                mtu(peer));
    }

    private static Mtu mtu(JsonObject peer) {
        for (Mtu mtu : Mtu.values()) {
            if (mtu.bytes() == peer.whole("mtu")) {
                return mtu;
            }
        }
        throw new IllegalArgumentException("no MTU of RDMA has " + peer.whole("mtu") + " bytes");
    }

    private static Map<String, Object> write(RdmaEnd end, JsonObject question) {
        JsonObject peer = question.object("peer");
        long address = Long.parseUnsignedLong(peer.text("address"), 16);
        int key = Integer.parseUnsignedInt(peer.text("key"), 16);
        int mtu = end.pathMtu(endpoint(question)).bytes();
        boolean burst = question.isTrue("burst");
        Written written = end.write(burst ? RdmaEnd.LONG_PIECE : mtu, address, key, WRITE_MILLIS);
        Optional<Long> burstMbps =
                written.complete() && burst ? Optional.of(bestBurst(end, address, key)) : Optional.empty();
        Optional<Long> rateMbps = Optional.empty();
        if (written.complete() && question.isTrue("rate")) {
            Written fast = end.writeFor(RATE_NANOS, address, key, WRITE_MILLIS);
            if (fast.complete()) {
                rateMbps = Optional.of(mbps(fast));
            } else {
                written = fast;
            }
        }
        return Json.object(new Transfer.Written(
                mtu,
                written.bytes(),
                TimeUnit.NANOSECONDS.toMicros(written.nanos()),
                rateMbps,
                burstMbps,
                status(written),
                why(written)));
    }

    /** The first one is for the JVM to get ready. In Mbit/s; 0 if one has failed. */
    private static long bestBurst(RdmaEnd end, long address, int key) {
        long best = 0;
        for (int i = 0; i < BURSTS; i++) {
            Written again = end.write(RdmaEnd.LONG_PIECE, address, key, WRITE_MILLIS);
            if (!again.complete()) {
                return 0;
            }
            best = Math.max(best, mbps(again));
        }
        return best;
    }

    private static long mbps(Written written) {
        return written.bytes() * 8 * 1000 / Math.max(1, written.nanos());
    }

    private static String status(Written written) {
        if (written.complete()) {
            return WorkCompletionStatus.SUCCESS.name();
        }
        if (written.errno() != 0) {
            return Errno.name(written.errno());
        }
        return written.status() == WorkCompletionStatus.SUCCESS
                ? Transfer.Written.NO_COMPLETION
                : written.status().name();
    }

    private static String why(Written written) {
        if (written.complete()) {
            return "";
        }
        if (written.errno() != 0) {
            return "a work request was refused, or the completion queue";
        }
        return written.status() == WorkCompletionStatus.SUCCESS
                ? "nothing has completed for " + WRITE_MILLIS / 1000 + " s"
                : written.status().explanation();
    }

    private static Map<String, Object> check(RdmaEnd end, JsonObject question) {
        RdmaEnd.Checked checked = end.check(question.whole("expected"));
        return Json.object("wrong", checked.wrong(), "first", checked.first());
    }

    private Map<String, Object> close(String id) {
        RdmaEnd end = ends.remove(id);
        if (end != null) {
            end.close();
        }
        return Json.object("closed", end != null);
    }

    @Override
    public void close() {
        if (isStuck()) {
            return;
        }
        for (String id : ends.keySet()) {
            try {
                close(id);
            } catch (RuntimeException _) {
                // of a process that ends
            }
        }
    }
}
