package trigon.routing.hardware;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.routing.LocalLink;

/** Links by the GPUs that their NICs are nearest to. */
public final class NicGroups {

    private static final Comparator<List<LocalLink>> BY_RANK = Comparator.comparing(List::getFirst, LocalLink.BY_RANK);

    private NicGroups() {}

    /**
     * A group for each GPU, or several GPUs at the same distance, to which NICs are nearer than to all others. None of
     * them has a link that is slower than another of the machine, as a management network's is; one whose NIC is no PCI
     * function; or one that is as near to the GPUs of another group, and to more.
     */
    public static List<List<LocalLink>> of(List<LocalLink> links, NicHardware hardware) {
        List<PciPath> gpus = hardware.gpus().stream()
                .flatMap(gpu -> PciPath.of(gpu).stream())
                .toList();
        Map<Set<Path>, List<LocalLink>> byNearest = new HashMap<>();
        for (LocalLink link : links) {
            boolean isSlow = links.stream().anyMatch(other -> other.bandwidth().exceeds(link.bandwidth()));
            Optional<PciPath> nic = hardware.pciFunction(link).flatMap(PciPath::of);
            if (!isSlow && nic.isPresent()) {
                byNearest
                        .computeIfAbsent(nearest(nic.get(), gpus), _ -> new ArrayList<>())
                        .add(link);
            }
        }
        Set<Set<Path>> all = Set.copyOf(byNearest.keySet());
        return byNearest.entrySet().stream()
                .filter(each -> all.stream()
                        .noneMatch(other ->
                                !other.equals(each.getKey()) && each.getKey().containsAll(other)))
                .map(Map.Entry::getValue)
                .sorted(BY_RANK)
                .toList();
    }

    private static Set<Path> nearest(PciPath nic, List<PciPath> gpus) {
        Optional<PciDistance> least = gpus.stream().map(nic::to).min(Comparator.naturalOrder());
        return gpus.stream()
                .filter(gpu -> least.filter(nic.to(gpu)::equals).isPresent())
                .map(PciPath::function)
                .collect(Collectors.toUnmodifiableSet());
    }
}
