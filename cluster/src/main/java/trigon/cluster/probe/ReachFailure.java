package trigon.cluster.probe;

import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reasons why a command does not run on another node, told apart by the words of ssh and of the node's shell. */
public enum ReachFailure {
    /** The program of {@code --via} is not on this machine. */
    NO_PROGRAM("install that program on this machine, or name another one with --via", "Cannot run program"),

    /** The node was installed anew, or another machine has its name. */
    OTHER_HOST_KEY(
            "if the node was installed anew, remove its old key, ssh-keygen -R %s, then log in once and accept the new"
                    + " one: ssh %1$s",
            "HOST IDENTIFICATION HAS CHANGED", "has changed and you have requested strict checking"),

    /** Nobody has logged in to the node from here yet. */
    NO_HOST_KEY("log in once by hand, and accept the node's host key: ssh %s", "Host key verification failed"),

    /** The ssh server of the node takes none of this user's keys. */
    LOGIN_REFUSED(
            "let ssh log in without a password: ssh-copy-id %s; as another user: --via \"ssh -l USER\"",
            "Permission denied (", "Too many authentication failures"),

    /** The resolver of this machine does not know the node. */
    NO_NAME(
            "correct the name, add it to /etc/hosts, or give the node's address to --nodes",
            "Could not resolve hostname",
            "Name or service not known"),

    /** The node answers, and has no ssh server at this port. */
    REFUSED("start the ssh server on the node, or name its port: --via \"ssh -p PORT\"", "Connection refused"),

    /** Nothing answers, or the connection ends before the login. */
    UNREACHABLE(
            "check that the node is up, that its name leads to the right address, and that no firewall keeps ssh (TCP"
                    + " port 22) from it",
            "timed out",
            "No route to host",
            "Network is unreachable",
            "Connection closed by",
            "Connection reset by"),

    /** The login works, and the distribution is not in the folder. */
    NO_TRIGON(
            "install the distribution in the same folder there, or give its folder with --remote",
            "No such file or directory",
            "command not found",
            ": not found",
            "Permission denied"),

    /** None of the others. */
    UNKNOWN("run the command by hand; it has to end without a message");

    private final String remedy;
    private final Pattern words;

    ReachFailure(String remedy, String... words) {
        this.remedy = remedy;
        this.words = Pattern.compile(Stream.of(words).map(Pattern::quote).collect(Collectors.joining("|")));
    }

    /** The first reason with words that occur in a message. */
    public static ReachFailure of(String message) {
        return Stream.of(values())
                .filter(each -> each.words.matcher(message).find())
                .findFirst()
                .orElseThrow(); // the empty pattern of UNKNOWN is in every message
    }

    /** Advice for the user, in words that begin with a verb. */
    public String remedy(String node) {
        return remedy.formatted(node);
    }
}
