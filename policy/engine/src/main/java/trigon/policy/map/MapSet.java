package trigon.policy.map;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The maps of a scope, by name. Objects that are loaded into the same set share the maps of the same name, and an
 * object that replaces another finds its maps as they were. Thread-safe.
 *
 * <p>A tuner's maps belong to one communicator: what several communicators write into the same map comes in another
 * order on each rank.
 */
public final class MapSet {

    private final Map<String, PolicyMap> maps = new LinkedHashMap<>();

    /**
     * The use of a map by an object's programs, for the rule that ranks have to decide alike.
     *
     * @param map name of the map
     * @param trusted a decision relies on it having the same content on all ranks
     * @param differs something is written to it that may differ between ranks
     */
    public record Use(String map, boolean trusted, boolean differs) {}

    /** By the name of the object. */
    private final Map<String, List<Use>> uses = new LinkedHashMap<>();

    /** By the name of the object. */
    private final Map<String, Declared> declared = new LinkedHashMap<>();

    /**
     * The names of the maps of an object.
     *
     * @param before those of the version that it replaced, whose content is kept for the way back to it
     */
    private record Declared(Set<String> now, Set<String> before) {}

    /**
     * The maps of a declaration, in its order; those that do not exist are created.
     *
     * <p>Read-only data belong to one version of an object: those are created anew each time.
     *
     * @throws MapException if one exists with another layout; then none is created
     */
    public synchronized List<PolicyMap> bind(List<MapSpec> specs) throws MapException {
        checkMemory(specs);
        Map<String, PolicyMap> created = new LinkedHashMap<>();
        List<PolicyMap> bound = new ArrayList<>();
        for (MapSpec spec : specs) {
            PolicyMap existing = maps.get(spec.name());
            if (existing == null || spec.readOnly()) {
                existing = create(spec);
                created.put(spec.name(), existing);
            } else if (!existing.spec().sameLayout(spec)) {
                throw new MapException(
                        ("map %s exists as %s; give the new one another name, or remove the old one, whose"
                                        + " content is then lost")
                                .formatted(spec, existing.spec()));
            }
            bound.add(existing);
        }
        maps.putAll(created);
        return List.copyOf(bound);
    }

    /** Before any is created. By what is declared alone, so that all ranks come to the same. */
    private static void checkMemory(List<MapSpec> specs) throws MapException {
        long bytes = 0;
        for (MapSpec spec : specs) {
            spec.check();
            bytes += spec.memoryBytes();
        }
        if (bytes > MapSpec.MAX_BYTES) {
            throw new MapException(
                    "the maps would take %d bytes in all, at most %d are allowed; declare fewer or smaller ones"
                            .formatted(bytes, MapSpec.MAX_BYTES));
        }
    }

    /** Runs programs on the shadows of maps of this set, which take room meanwhile. One at a time. */
    public synchronized void onShadows(List<PolicyMap> bound, Runnable runs) {
        bound.forEach(PolicyMap::resetShadow);
        try {
            runs.run();
        } finally {
            bound.forEach(PolicyMap::discardShadow);
        }
    }

    private static PolicyMap create(MapSpec spec) throws MapException {
        return switch (spec.type()) {
            case ARRAY, THREAD_ARRAY -> ArrayMap.create(spec);
            case HASH, LRU_HASH -> HashMap.create(spec);
            case RING_BUFFER -> RingBuffer.create(spec);
        };
    }

    /**
     * Says how an object uses its maps, in place of the one it replaces.
     *
     * @param replaced name of that one; of an object that replaces none, its own
     * @throws MapException if one object relies on what another one spoils; then nothing changes
     */
    public synchronized void claim(String object, String replaced, List<Use> claimed) throws MapException {
        for (Map.Entry<String, List<Use>> other : uses.entrySet()) {
            if (!other.getKey().equals(object) && !other.getKey().equals(replaced)) {
                for (Use theirs : other.getValue()) {
                    for (Use ours : claimed) {
                        checkAgreement(object, ours, other.getKey(), theirs);
                    }
                }
            }
        }
        uses.remove(replaced);
        uses.put(object, List.copyOf(claimed));
    }

    /**
     * Keeps the maps of an object, and of the one it replaces. Forgets those which only versions before that had, so
     * that a set does not grow with each version whose maps have other names.
     *
     * @param replaced name of the one that it replaces; of an object that replaces none, its own
     */
    public synchronized void keep(String object, String replaced, List<MapSpec> specs) {
        Set<String> now = specs.stream().map(MapSpec::name).collect(Collectors.toUnmodifiableSet());
        Declared last = declared.remove(replaced);
        declared.put(object, new Declared(now, last == null ? Set.of() : last.now()));
        if (last != null) {
            last.before().stream().filter(name -> !isDeclared(name)).forEach(maps::remove);
        }
    }

    private boolean isDeclared(String name) {
        return declared.values().stream()
                .anyMatch(each -> each.now().contains(name) || each.before().contains(name));
    }

    private static void checkAgreement(String object, Use ours, String otherObject, Use theirs) throws MapException {
        if (!ours.map().equals(theirs.map())) {
            return;
        }
        boolean spoilt = ours.trusted() && theirs.differs();
        boolean spoils = ours.differs() && theirs.trusted();
        if (spoilt || spoils) {
            throw new MapException(
                    ("map %s: %s decides by it, but %s writes to it what may differ between ranks; declare the tuner"
                                    + " advisory, or give the maps different names")
                            .formatted(ours.map(), spoilt ? object : otherObject, spoilt ? otherObject : object));
        }
    }

    /** Forgets how an object that is no longer loaded used its maps. */
    public synchronized void release(String object) {
        uses.remove(object);
    }

    public synchronized Optional<PolicyMap> find(String name) {
        return Optional.ofNullable(maps.get(name));
    }

    /** All maps at the moment, in order of creation. */
    public synchronized List<PolicyMap> all() {
        return List.copyOf(maps.values());
    }

    /** Forgets a map: the next object that declares it gets a new one. False if there is none. */
    public synchronized boolean remove(String name) {
        return maps.remove(name) != null;
    }
}
