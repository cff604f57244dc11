package trigon.integration;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Two network namespaces with a cable, 10.77.9.1 and 10.77.9.2, one direction of which is as slow as tc makes it. */
final class SlowCable implements AutoCloseable {

    private static final long DEADLINE_SECONDS = 30;

    private final String name;

    /** None yet; the name is nobody else's. */
    SlowCable(String name) {
        this.name = name;
    }

    /** Makes it. Returns false where that is not allowed, or the kernel cannot. */
    boolean make(int slow, String rate) throws IOException, InterruptedException {
        boolean made = run("ip", "netns", "add", name + "-0") && run("ip", "netns", "add", name + "-1");
        made = made
                && run(
                        "ip",
                        "link",
                        "add",
                        "cable0",
                        "netns",
                        name + "-0",
                        "type",
                        "veth",
                        "peer",
                        "name",
                        "cable1",
                        "netns",
                        name + "-1");
        for (int end = 0; end < 2 && made; end++) {
            String device = "cable" + end;
            made = at(end, "ip", "link", "set", "lo", "up")
                    && at(end, "ip", "addr", "add", "10.77.9." + (end + 1) + "/24", "dev", device)
                    && at(end, "ip", "link", "set", device, "up");
        }
        return made
                && at(
                        slow,
                        "tc",
                        "qdisc",
                        "add",
                        "dev",
                        "cable" + slow,
                        "root",
                        "tbf",
                        "rate",
                        rate,
                        "burst",
                        "8kb",
                        "latency",
                        "2s");
    }

    /** What runs a program at that end. */
    List<String> at(int end) {
        return List.of("ip", "netns", "exec", name + "-" + end);
    }

    private boolean at(int end, String... command) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(at(end));
        all.addAll(List.of(command));
        return run(all.toArray(String[]::new));
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        return process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    @Override
    public void close() throws IOException {
        try {
            boolean _ = run("ip", "netns", "del", name + "-0");
            boolean _ = run("ip", "netns", "del", name + "-1");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
