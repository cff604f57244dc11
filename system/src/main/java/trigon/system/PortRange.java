package trigon.system;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * TCP ports that listeners may have. Processes of a node share a range: each takes what is free.
 *
 * @param first at least 1; 0 for {@link #ANY}
 * @param last at least the first, at most 65535
 */
public record PortRange(int first, int last) {

    /** Leaves the choice to the kernel. */
    public static final PortRange ANY = new PortRange(0, 0);

    private static final int MAX = 65_535;
    private static final Pattern TEXT = Pattern.compile("([1-9]\\d{0,4})(?:-([1-9]\\d{0,4}))?");

    /**
     * Binding of a listener.
     *
     * @param <T> a bound listener
     * @param <E> its failure
     */
    @FunctionalInterface
    public interface Binding<T, E extends Exception> {

        /** Binds to that port, 0 for any free one; leaves nothing open if it fails. */
        T bind(int port) throws E;
    }

    public PortRange {
        if (first < 0 || first > last || last > MAX || (first == 0 && last != 0)) {
            throw new IllegalArgumentException("no ports: " + first + "-" + last);
        }
    }

    /** Parses {@code 30000-30999}, or a single port; empty for anything else. */
    public static Optional<PortRange> parse(String text) {
        Matcher ports = TEXT.matcher(text);
        if (!ports.matches()) {
            return Optional.empty();
        }
        int first = Integer.parseInt(ports.group(1));
        int last = ports.group(2) == null ? first : Integer.parseInt(ports.group(2));
        return first <= last && last <= MAX ? Optional.of(new PortRange(first, last)) : Optional.empty();
    }

    /**
     * Binds to a port that is free. Tries begin at the process's own place, so that processes that start together
     * seldom try the same.
     *
     * @throws E the last failure, if no port can be had
     */
    public <T, E extends Exception> T bind(Binding<T, E> binding) throws E {
        return bind(ProcessHandle.current().pid(), binding);
    }

    <T, E extends Exception> T bind(long place, Binding<T, E> binding) throws E {
        int count = last - first + 1;
        for (int tried = 0; ; tried++) {
            try {
                return binding.bind(first + (int) ((place + tried) % count));
            } catch (Exception e) {
                if (tried + 1 == count) {
                    throw e;
                }
            }
        }
    }

    @Override
    public String toString() {
        if (equals(ANY)) {
            return "any";
        }
        return first == last ? Integer.toString(first) : first + "-" + last;
    }
}
