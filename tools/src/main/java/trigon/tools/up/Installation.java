package trigon.tools.up;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.ShellWord;

/** The distribution on the nodes: a package manager's, or a copy of this one. */
final class Installation {

    /** Folder of the distribution on every node. */
    static final String HOME = "/opt/trigon";

    static final String PROGRAM = HOME + "/bin/trigon";

    private static final long NEEDED_KIB = 400 << 10;

    private static final String LOOK = """
            if [ -e %1$s/release ]; then head -c 2000 %1$s/release; fi
            if dpkg -S %1$s/release >/dev/null 2>&1 || rpm -qf %1$s/release >/dev/null 2>&1; then
              echo package
            fi
            """.formatted(HOME);

    private static final String INSTALL = """
            note "package %1$s"
            if [ -e %1$s ]; then : >"$J/had-package"; fi
            rm -rf %1$s.trigon-new
            mkdir -p -m 755 %1$s.trigon-new
            tar -xf - -C %1$s.trigon-new
            chmod 755 %1$s.trigon-new
            if [ -e %1$s ]; then mv %1$s %1$s.trigon-old; fi
            mv %1$s.trigon-new %1$s
            """.formatted(HOME);

    private final Nodes nodes;
    private final Path home;
    private final String release;

    /** @param home this machine's distribution, which is copied */
    Installation(Nodes nodes, Path home) {
        this.nodes = nodes;
        this.home = home;
        this.release = Machine.text(home.resolve("release")).orElse("").strip();
    }

    /**
     * Tells whether a node needs a copy.
     *
     * @throws CommandFailure if it cannot have one
     */
    boolean isMissing(String node, Reach.Reached reached) throws IOException {
        String there = nodes.run(node, "look into " + HOME, "look at it by hand", LOOK);
        boolean isPackaged = there.lines().anyMatch("package"::equals);
        String text = there.replaceAll("(?m)^package$", "").strip();
        if (text.equals(release)) {
            return false;
        }
        if (isPackaged) {
            throw new CommandFailure(
                    "its package trigon is of another version than this program; install the same one there and here");
        }
        if (!release.contains("ARCH=\"" + reached.processor() + "\"")) {
            throw new CommandFailure(("this distribution is not for its processor, %s; install the package for it there"
                            + " by hand, then run this again")
                    .formatted(reached.processor()));
        }
        if (reached.freeKib() < NEEDED_KIB) {
            throw new CommandFailure("/opt has %d MiB left, and %d are needed; make room there"
                    .formatted(reached.freeKib() >> 10, NEEDED_KIB >> 10));
        }
        return true;
    }

    /** Copies this machine's distribution to a node, with the times of its files, which the AOT cache needs. */
    void copy(String node, Journal journal) throws IOException {
        var _ = nodes.run(
                node, "install Trigon in " + HOME, "look for room and rights there", journal.step(INSTALL), to -> {
                    Process tar = new ProcessBuilder(List.of(
                                    "tar",
                                    "--owner=0",
                                    "--group=0",
                                    "--numeric-owner",
                                    "-C",
                                    home.toString(),
                                    "-cf",
                                    "-",
                                    "."))
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
                    try (InputStream from = tar.getInputStream()) {
                        from.transferTo(to);
                    } finally {
                        tar.destroyForcibly();
                    }
                });
    }

    /** Removes it from a node, however it came there. */
    static String purge() {
        return """
                if dpkg -S %1$s/release >/dev/null 2>&1; then
                  DEBIAN_FRONTEND=noninteractive dpkg --purge trigon >&2
                elif rpm -qf %1$s/release >/dev/null 2>&1; then
                  rpm -e trigon >&2
                elif [ -e %1$s/release ]; then
                  rm -rf %1$s
                  echo removed
                fi
                """.formatted(ShellWord.of(HOME));
    }
}
