package trigon.tools.up;

import java.io.Console;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import trigon.tools.console.CommandFailure;
import trigon.tools.nodes.ReachOptions;

/** Rules for options of up and down. */
final class UpOptions {

    private static final int MAX_BASE = 255;
    private static final int MIN_MTU = 1280;
    private static final int MAX_MTU = 65_535;

    private UpOptions() {}

    /** What is wrong with the nodes; empty if nothing is. */
    static Optional<String> check(List<String> names) {
        Optional<String> none = names.stream()
                .filter(name -> !name.matches("[A-Za-z0-9][A-Za-z0-9._@-]{0,62}"))
                .findFirst();
        if (none.isPresent()) {
            return Optional.of(
                    ReachOptions.isName(none.get())
                            ? "\"%s\" cannot be a node's name: give an ssh name of letters, digits, points and hyphens"
                                    .formatted(none.get())
                            : "\"%s\" is no node's name".formatted(none.get()));
        }
        return Set.copyOf(names).size() < names.size() ? Optional.of("a node is named twice") : Optional.empty();
    }

    /** The same, and what is wrong with numbers. */
    static Optional<String> check(List<String> names, int base, int mtu) {
        return base < 0 || base > MAX_BASE || mtu < MIN_MTU || mtu > MAX_MTU
                ? Optional.of("--base must be 0 to %d, --mtu %d to %d".formatted(MAX_BASE, MIN_MTU, MAX_MTU))
                : check(names);
    }

    /**
     * Asks for a password, as sudo reads it; empty if none is to be asked for, or the answer is.
     *
     * @throws CommandFailure if there is no terminal to ask at
     */
    static Optional<byte[]> password(boolean asks) {
        if (!asks) {
            return Optional.empty();
        }
        Console terminal = Objects.requireNonNull(System.console()); // from JDK 22 on
        char[] password = terminal.isTerminal() ? terminal.readPassword("Password of sudo on the nodes: ") : null;
        if (password == null) {
            throw new CommandFailure("--ask-sudo: there is no terminal to ask at; run this in one");
        }
        if (password.length == 0) {
            return Optional.empty();
        }
        ByteBuffer bytes = StandardCharsets.UTF_8.encode(CharBuffer.wrap(password));
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        return Optional.of(copy);
    }
}
