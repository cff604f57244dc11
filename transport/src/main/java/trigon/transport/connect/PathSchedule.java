package trigon.transport.connect;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import trigon.routing.Path;
import trigon.system.NanoClock;

/**
 * Order and times in which paths are tried: one that is away is tried again until its time is over, quickly at first,
 * and after the others. State without I/O; used by one thread.
 */
final class PathSchedule {

    /** Before the second try; doubled for each one after it. */
    static final Duration FIRST_PAUSE = Duration.ofMillis(50);

    static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

    private static final class Entry {
        final Path path;
        boolean tried;
        long firstTry;
        long nextTry;
        long pause = FIRST_PAUSE.toNanos();

        Entry(Path path) {
            this.path = path;
        }
    }

    private final List<Entry> entries = new ArrayList<>();
    private final long limit;
    private final NanoClock clock;

    /**
     * Nothing to try yet.
     *
     * @param limit how long a path is tried, from its first try on
     */
    PathSchedule(Duration limit, NanoClock clock) {
        this.limit = limit.toNanos();
        this.clock = clock;
    }

    /** These as well, after the others. */
    void add(Collection<Path> paths) {
        paths.forEach(path -> entries.add(new Entry(path)));
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Those that may be tried now, in the order in which they were added; whoever has not been tried goes first. */
    List<Path> due() {
        long now = clock.nanoTime();
        List<Path> untried = entries.stream()
                .filter(each -> !each.tried)
                .map(each -> each.path)
                .toList();
        return !untried.isEmpty()
                ? untried
                : entries.stream()
                        .filter(each -> each.nextTry - now <= 0)
                        .map(each -> each.path)
                        .toList();
    }

    /** Returns how long until one is due; nothing while one is. */
    Duration pause() {
        long now = clock.nanoTime();
        return Duration.ofNanos(entries.stream()
                .mapToLong(each -> each.tried ? Math.max(0, each.nextTry - now) : 0)
                .min()
                .orElse(0));
    }

    /** These are tried now. */
    void begin(Collection<Path> paths) {
        long now = clock.nanoTime();
        for (Path path : paths) {
            entry(path).filter(each -> !each.tried).ifPresent(each -> {
                each.tried = true;
                each.firstTry = now;
            });
        }
    }

    /** Returns what is left of the time of the youngest of these; a quarter of all where others have used it up. */
    Duration timeLeft(Collection<Path> paths) {
        long now = clock.nanoTime();
        long longest = paths.stream()
                .flatMap(path -> entry(path).stream())
                .mapToLong(each -> each.tried ? limit - (now - each.firstTry) : limit)
                .max()
                .orElse(limit);
        return Duration.ofNanos(Math.max(limit / 4, longest));
    }

    /**
     * There was no way now.
     *
     * @return whether it is tried again
     */
    boolean away(Path path) {
        long now = clock.nanoTime();
        Optional<Entry> entry = entry(path);
        if (entry.isEmpty() || now - entry.get().firstTry >= limit) {
            failed(path);
            return false;
        }
        Entry again = entry.get();
        again.nextTry = now + again.pause;
        again.pause = Math.min(2 * again.pause, LONGEST_PAUSE.toNanos());
        return true;
    }

    /** It is tried no more. */
    void failed(Path path) {
        entries.removeIf(each -> each.path.equals(path));
    }

    /** For how long none has worked, since the first was tried. */
    Duration sinceFirst() {
        long now = clock.nanoTime();
        return Duration.ofNanos(entries.stream()
                .filter(each -> each.tried)
                .mapToLong(each -> now - each.firstTry)
                .max()
                .orElse(0));
    }

    private Optional<Entry> entry(Path path) {
        return entries.stream().filter(each -> each.path.equals(path)).findFirst();
    }
}
