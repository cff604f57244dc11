package trigon.tools.keep;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import trigon.cluster.machine.NicManager;

/** A way to keep addresses and MTUs of interfaces after a restart: files, and commands that make them count. */
public sealed interface Keeper permits IfupdownKeeper, NetplanKeeper, NetworkManagerKeeper, NetworkdKeeper, UnitKeeper {

    /** The program, as people call it. */
    String program();

    /** The same as a word of a command line. */
    default String word() {
        return program().toLowerCase(Locale.ROOT);
    }

    /** The files that keep an interface as it is to be. */
    List<LastingFile> files(WantedNic nic);

    /** Commands that make the program take the files of an interface, run once they are there, or no longer are. */
    List<String> reread(WantedNic nic);

    /** Commands that give the interface what the files say, run after {@link #reread}. */
    List<String> activate(WantedNic nic);

    /** Commands that give the interface back to what has it without these files, run after {@link #reread}. */
    default List<String> release(WantedNic nic) {
        return List.of();
    }

    /** Tells whether it runs all the time, and would undo what only the kernel has been told. */
    default boolean isDaemon() {
        return false;
    }

    /** Files of others, as a shell's pattern, to whose addresses these are added; empty if these replace theirs. */
    default Optional<String> mergedWith() {
        return Optional.empty();
    }

    /** All of them, the most frequent first. */
    static List<Keeper> all() {
        return List.of(
                new NetworkManagerKeeper(),
                new NetplanKeeper(),
                new NetworkdKeeper(),
                new IfupdownKeeper(),
                new UnitKeeper());
    }

    /** The one for a program in charge; empty if that has to be told by hand. */
    static Optional<Keeper> of(NicManager manager) {
        return switch (manager) {
            case NETWORK_MANAGER -> Optional.of(new NetworkManagerKeeper());
            case NETWORKD -> Optional.of(new NetworkdKeeper());
            case NETPLAN -> Optional.of(new NetplanKeeper());
            case IFUPDOWN -> Optional.of(new IfupdownKeeper());
            case NOBODY -> Optional.of(new UnitKeeper());
            case WICKED, CONNMAN -> Optional.empty();
        };
    }

    /** Lines for a root shell that keep an interface. */
    default List<String> script(WantedNic nic) {
        List<String> lines = new ArrayList<>();
        for (LastingFile file : files(nic)) {
            if (file.isLink()) {
                lines.add("ln -sf %s %s".formatted(file.text(), file.path()));
            } else {
                lines.add("install -D -m %s /dev/stdin %s <<'EOF'".formatted(file.mode(), file.path()));
                file.text().lines().forEach(lines::add);
                lines.add("EOF");
            }
        }
        lines.addAll(reread(nic));
        lines.addAll(activate(nic));
        return lines;
    }
}
