package trigon.tools.up;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.Map;
import trigon.cluster.probe.ReachFailure;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.UserFiles;

/** Finds out how far the way to a node goes, and what is there. The first test that fails has its own remedy. */
final class Reach {

    /**
     * A node that a login as root reaches.
     *
     * @param group of the user who logs in, whose jobs read the key
     * @param processor as uname(1) says it
     * @param freeKib space below {@code /opt}
     * @param aheadSeconds of this machine's clock
     */
    record Reached(String group, String processor, String glibc, long freeKib, long aheadSeconds) {}

    private static final int CONNECT_MILLIS = 5_000;
    private static final int MAX_AHEAD_SECONDS = 300;
    private static final String MARK = "trigon-reach";

    private static final String FACTS = """
            echo "%s group=$(id -gn)"
            echo "processor=$(uname -m)"
            echo "glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/.* //')"
            echo "free=$({ df -Pk /opt || df -Pk /; } 2>/dev/null |
              sed -n '2s/^[^ ]* *[0-9]* *[0-9]* *\\([0-9]*\\).*/\\1/p')"
            echo "clock=$(date +%%s)"
            """.formatted(MARK);

    private final NodeShell shell;
    private final Map<String, SshTarget> targets;

    /** @param targets where ssh connects to, by node; nodes without one are reached otherwise */
    Reach(NodeShell shell, Map<String, SshTarget> targets) {
        this.shell = shell;
        this.targets = targets;
    }

    /**
     * Reaches a node.
     *
     * @throws CommandFailure if a test fails, with the remedy
     */
    Reached node(String node) throws IOException {
        SshTarget target = targets.get(node);
        if (target != null) {
            checkAddress(node, target);
        }
        NodeShell.Answer login = shell.run(node, false, FACTS, NodeShell.Input.NONE);
        if (!login.isGood() || !login.out().contains(MARK)) {
            throw notReached(node, login);
        }
        Map<String, String> facts = read(login.out());
        NodeShell.Answer root = shell.run(node, true, "echo " + MARK + " $(id -u)", NodeShell.Input.NONE);
        if (!root.out().contains(MARK + " 0")) {
            throw notRoot(node, root);
        }
        Reached reached = new Reached(
                facts.getOrDefault("group", "root"),
                facts.getOrDefault("processor", ""),
                facts.getOrDefault("glibc", ""),
                number(facts, "free", Long.MAX_VALUE),
                number(facts, "clock", System.currentTimeMillis() / 1000) - System.currentTimeMillis() / 1000);
        if (Math.abs(reached.aheadSeconds()) > MAX_AHEAD_SECONDS) {
            throw new CommandFailure("its clock differs from this machine's by %d s; set it: timedatectl set-ntp true"
                    .formatted(reached.aheadSeconds()));
        }
        return reached;
    }

    private static void checkAddress(String node, SshTarget target) {
        if (target.isProxied()) {
            return;
        }
        InetAddress address;
        try {
            address = InetAddress.getByName(target.host());
        } catch (UnknownHostException _) {
            throw new CommandFailure(
                    "%s has no address here; add a line with its address to /etc/hosts, or \"Host %s\" with \"HostName"
                                    .formatted(target.host(), node)
                            + " ADDRESS\" to ~/.ssh/config");
        }
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, target.port()), CONNECT_MILLIS);
        } catch (IOException e) {
            throw new CommandFailure(
                    "no connection to %s port %d: %s; start the ssh server there, or let the port through"
                            .formatted(address.getHostAddress(), target.port(), UserFiles.reason(e)));
        }
    }

    private static CommandFailure notReached(String node, NodeShell.Answer login) {
        return new CommandFailure("no login: %s; %s"
                .formatted(
                        login.complaint().isEmpty() ? "it ended with exit status " + login.status() : login.complaint(),
                        ReachFailure.of(login.complaint()).remedy(node)));
    }

    private static CommandFailure notRoot(String node, NodeShell.Answer root) {
        String remedy = root.complaint().contains("password")
                ? "give --ask-sudo, which asks for the password once"
                : "let the user who logs in use sudo there, or log in as root: trigon up root@" + node;
        return new CommandFailure("no root: %s; %s"
                .formatted(root.complaint().isEmpty() ? "sudo says nothing" : root.complaint(), remedy));
    }

    /** Lines {@code name=value} of a few letters; others count as none. */
    private static Map<String, String> read(String out) {
        Map<String, String> found = new HashMap<>();
        out.lines()
                .map(line -> line.replace(MARK + " ", ""))
                .filter(line -> line.matches("[a-z]{1,20}=[A-Za-z0-9._-]{1,64}"))
                .forEach(
                        line -> found.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1)));
        return found;
    }

    private static long number(Map<String, String> facts, String name, long otherwise) {
        String text = facts.getOrDefault(name, "");
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : otherwise;
    }
}
