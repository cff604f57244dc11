package trigon.integration.structure;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Sets of classes each of which depends on all others of its set, directly or not: the strongly connected components of
 * their references, found by Tarjan's algorithm. A nested class counts as the one around it.
 */
final class Knots {

    private final Map<String, Set<String>> references;
    private final Map<String, Integer> indexes = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> path = new ArrayDeque<>();
    private final List<Set<String>> found = new ArrayList<>();

    private Knots(Map<String, Set<String>> references) {
        this.references = references;
    }

    /** Of the classes of a package and the packages in it; a class that is in no circle is a set of its own. */
    static List<Set<String>> among(JavaClasses classes, String root) {
        Map<String, Set<String>> references = new HashMap<>();
        for (JavaClass each : classes) {
            if (isIn(each, root)) {
                Set<String> known = references.computeIfAbsent(topLevel(each), _ -> new TreeSet<>());
                each.getDirectDependenciesFromSelf().stream()
                        .map(Dependency::getTargetClass)
                        .filter(target -> isIn(target, root))
                        .forEach(target -> known.add(topLevel(target)));
            }
        }
        Knots knots = new Knots(references);
        for (String each : references.keySet()) {
            if (!knots.indexes.containsKey(each)) {
                knots.visit(each);
            }
        }
        return knots.found;
    }

    private static boolean isIn(JavaClass one, String root) {
        return one.getPackageName().equals(root) || one.getPackageName().startsWith(root + ".");
    }

    private static String topLevel(JavaClass one) {
        String name = one.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private void visit(String one) {
        int index = indexes.size();
        indexes.put(one, index);
        lowest.put(one, index);
        path.push(one);
        for (String other : references.getOrDefault(one, Set.of())) {
            if (!indexes.containsKey(other)) {
                visit(other);
                lowest.merge(one, lowest.getOrDefault(other, index), Math::min);
            } else if (path.contains(other)) {
                lowest.merge(one, indexes.getOrDefault(other, index), Math::min);
            }
        }
        if (lowest.getOrDefault(one, index) == index) {
            Set<String> knot = new TreeSet<>();
            String last;
            do {
                last = path.pop();
                knot.add(last);
            } while (!last.equals(one));
            found.add(knot);
        }
    }
}
