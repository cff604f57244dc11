package trigon.tools.up;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.tools.console.CommandFailure;

/** Needs of jobs besides addresses: the cluster's key, memory that may be locked, and NCCL's files. One thread. */
final class JobStep {

    private static final String KEY = "/etc/trigon/cluster.key";
    private static final int KEY_BYTES = 32;

    private static final String LIMITS = "/etc/security/limits.d/60-trigon.conf";
    private static final String LIMITS_TEXT = """
            # by trigon up: NICs read and write memory that must stay where it is
            * - memlock unlimited
            root - memlock unlimited
            """;
    private static final String SERVICES = "/etc/systemd/system.conf.d/60-trigon.conf";
    private static final String SERVICES_TEXT = """
            [Manager]
            DefaultLimitMEMLOCK=infinity
            """;

    private static final Pattern KEY_LINE = Pattern.compile("(?m)^key ([0-9a-f]{64}) (\\S+ \\S+)$");

    /**
     * What a node has.
     *
     * @param key digest of its key; empty if it has none
     * @param keyMode mode and group of the key's file
     */
    private record State(Optional<String> key, String keyMode, boolean limits, boolean nccl) {}

    private final Nodes nodes;
    private final Map<String, Reach.Reached> reached;
    private final SharedNetwork shared;
    private final Map<String, OwnName> names;
    private final Map<String, State> states = new LinkedHashMap<>();

    /** @param names of nodes that lead to their loopbacks; none is changed to an address that is leased */
    JobStep(Nodes nodes, Map<String, Reach.Reached> reached, SharedNetwork shared, Map<String, OwnName> names) {
        this.nodes = nodes;
        this.reached = reached;
        this.shared = shared;
        this.names = shared.leased() ? Map.of() : names;
    }

    /**
     * Finds out what is missing; a line for each.
     *
     * @throws CommandFailure if nodes have different keys
     */
    List<String> look() {
        states.putAll(nodes.each(this::state).all());
        TreeSet<String> keys = new TreeSet<>();
        states.values().forEach(state -> state.key().ifPresent(keys::add));
        if (keys.size() > 1) {
            List<String> lines = new ArrayList<>(List.of(
                    "nodes have different keys in " + KEY + "; remove all but the right one, and run this again:"));
            states.forEach((node, state) -> state.key().ifPresent(key -> lines.add(node + ": " + key.substring(0, 8))));
            throw new CommandFailure(String.join("\n", lines));
        }
        List<String> missing = new ArrayList<>();
        states.forEach((node, state) -> {
            if (!hasKey(node, state)) {
                missing.add(node + ": the cluster's key in " + KEY);
            }
            if (!state.limits()) {
                missing.add(node + ": jobs may lock memory");
            }
            if (!state.nccl()) {
                missing.add(node + ": NCCL loads Trigon, and meets on " + nic(node));
            }
        });
        names.forEach((node, name) -> missing.add(node + ": " + name.text()));
        return missing;
    }

    private String nic(String node) {
        return shared.nics().getOrDefault(node, "lo");
    }

    private String keyMode(String node) {
        return "640 "
                + Optional.ofNullable(reached.get(node))
                        .map(Reach.Reached::group)
                        .orElse("root");
    }

    private boolean hasKey(String node, State state) {
        return state.key().isPresent() && state.keyMode().equals(keyMode(node));
    }

    private State state(String node) throws IOException {
        String out = nodes.run(node, "look at the settings of jobs", "look at " + KEY + " there", """
                umask 077
                if [ -s %1$s ]; then
                  echo "key $(printf %%s "$(cat %1$s)" | sha256sum | cut -c1-64) $(stat -c '%%a %%G' %1$s)"
                fi
                if [ "$(cat %2$s 2>/dev/null)" = '%3$s' ]; then echo limits; fi
                %4$s enable --system --bootstrap %5$s --dry-run 2>/dev/null | sed 's/^/nccl /' || :
                """.formatted(
                        KEY, LIMITS, LIMITS_TEXT.strip(), Installation.PROGRAM, nic(node)));
        Matcher key = KEY_LINE.matcher(out);
        boolean has = key.find();
        List<String> files =
                out.lines().filter(line -> line.startsWith("nccl /etc/")).toList();
        return new State(
                has ? Optional.of(key.group(1)) : Optional.empty(),
                has ? key.group(2) : "",
                out.lines().anyMatch("limits"::equals),
                !files.isEmpty() && files.stream().allMatch(line -> line.endsWith(": has these lines")));
    }

    /** Gives all nodes the key that one of them has, or a new one. It is on no command line and in no log. */
    void giveKey(Journal journal) throws IOException {
        if (states.entrySet().stream().allMatch(each -> hasKey(each.getKey(), each.getValue()))) {
            return;
        }
        byte[] key = key();
        var _ = nodes.each(node -> nodes.run(
                        node,
                        "write " + KEY,
                        "look for room and rights in /etc there",
                        journal.step("put " + keyMode(node) + " " + KEY + "\n"),
                        to -> to.write(key)))
                .all();
    }

    private byte[] key() throws IOException {
        Optional<String> owner = states.entrySet().stream()
                .filter(each -> each.getValue().key().isPresent())
                .map(Map.Entry::getKey)
                .findFirst();
        if (owner.isPresent()) {
            return nodes.run(owner.get(), "read " + KEY, "look at it there", "head -c 4096 " + KEY)
                    .getBytes(StandardCharsets.UTF_8);
        }
        byte[] random = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(random);
        return (HexFormat.of().formatHex(random) + "\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** Raises the limits, and has NCCL load Trigon; what others have set otherwise is said. */
    Map<String, String> enable(Journals journals) {
        Map<String, String> scripts = new LinkedHashMap<>();
        nodes.names()
                .forEach(node -> scripts.put(
                        node,
                        """
                put 644 root %1$s <<'END_OF_FILE'
                %2$sEND_OF_FILE
                if [ -d /etc/systemd ]; then
                  note "run [ -d /run/systemd/system ] && systemctl daemon-reexec"
                  put 644 root %3$s <<'END_OF_FILE'
                %4$sEND_OF_FILE
                  if [ -d /run/systemd/system ]; then systemctl daemon-reexec; fi
                fi
                changing /etc/nccl.conf
                nccl=$number
                changing /etc/rccl.conf
                rccl=$number
                %5$s enable --system --bootstrap %6$s >/dev/null || [ $? = 1 ]
                changed "$nccl" /etc/nccl.conf
                changed "$rccl" /etc/rccl.conf
                """.formatted(LIMITS, LIMITS_TEXT, SERVICES, SERVICES_TEXT, Installation.PROGRAM, nic(node))
                                + Optional.ofNullable(names.get(node))
                                        .map(OwnName::script)
                                        .orElse("")));
        return journals.step("enable Trigon", "run there: sudo " + Installation.PROGRAM + " enable", scripts);
    }

    /** Says of which nodes new logins still may not lock memory. */
    List<String> limited() {
        List<String> notes = new ArrayList<>();
        nodes.each(node -> nodes.shell()
                        .run(node, false, "ulimit -l", NodeShell.Input.NONE)
                        .out()
                        .strip())
                .done()
                .forEach((node, limit) -> {
                    if (!limit.equals("unlimited")) {
                        notes.add(("%s: a new login may lock %s KiB alone, whatever %s says; let sshd use PAM, or raise"
                                        + " the limit where it is set")
                                .formatted(node, limit.replaceAll("\\D", ""), LIMITS));
                    }
                });
        return notes;
    }
}
