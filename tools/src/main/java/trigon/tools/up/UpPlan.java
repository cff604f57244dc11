package trigon.tools.up;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.NicManager;
import trigon.cluster.probe.Observations;
import trigon.system.InterfaceAddress;
import trigon.tools.console.CommandFailure;
import trigon.tools.doctor.Cables;
import trigon.tools.keep.Change;
import trigon.tools.keep.Keeper;
import trigon.tools.plan.Cabling;
import trigon.tools.plan.PlannedEnd;

/**
 * What the ends of all cables are to be. Pure.
 *
 * @param ends both of each cable
 * @param leftOut interfaces that are not touched, each with the reason
 * @param shared the network for NCCL's bootstrap
 */
record UpPlan(List<NicPlan> ends, List<String> leftOut, SharedNetwork shared) {

    /**
     * Wishes of the user.
     *
     * @param base of new subnets, which are in 10.BASE.0.0/16
     * @param mtu at most, in bytes
     */
    record Wishes(int base, int mtu) {}

    /**
     * Plans for nodes that have examined each other.
     *
     * @throws CommandFailure if it cannot be done, with the remedy
     */
    static UpPlan of(Observations seen, Ends ends, Map<String, Survey> surveys, Wishes wishes) {
        Set<String> leftOut = new LinkedHashSet<>();
        List<PlannedEnd> planned = planned(seen, ends, surveys, wishes, leftOut);
        List<NicPlan> nics = planned.stream()
                .map(end -> nic(end, planned, seen, surveys, wishes))
                .toList();
        nics.stream().filter(nic -> !nic.isRight()).forEach(UpPlan::refuseUnknownKeeper);
        ends.all().forEach((end, what) -> {
            if (nics.stream()
                    .noneMatch(
                            nic -> end.equals(nic.end().node() + " " + nic.end().nic()))) {
                leftOut.add(end + ": " + what.why());
            }
        });
        SharedNetwork shared = SharedNetwork.of(seen, nics, surveys)
                .orElseThrow(() -> new CommandFailure("no network joins all of %s, and NCCL's ranks must meet on one;"
                                .formatted(String.join(", ", seen.facts().keySet()))
                        + " give each node an address in one subnet, as on a LAN or a VPN"));
        return new UpPlan(nics, List.copyOf(leftOut), shared);
    }

    /** Those of all cables but for such as carry the login and would have to get another address. */
    private static List<PlannedEnd> planned(
            Observations seen, Ends ends, Map<String, Survey> surveys, Wishes wishes, Set<String> leftOut) {
        Set<String> without = new LinkedHashSet<>();
        while (true) {
            Predicate<String> isPlanned = end -> Optional.ofNullable(ends.all().get(end))
                            .filter(each -> each.use() == Ends.Use.CABLE)
                            .isPresent()
                    && !without.contains(end);
            if (Cables.of(seen).stream().noneMatch(each -> isPlanned.test(each.from()) && isPlanned.test(each.to()))) {
                throw new CommandFailure(
                        "no cable joins these nodes: no interface hears one other end alone; plug the cables in, let"
                                + " UDP through, and look with \"trigon doctor --nodes "
                                + String.join(",", seen.facts().keySet()) + "\"");
            }
            List<PlannedEnd> planned = PlannedEnd.of(
                    Cabling.of(seen, isPlanned, elsewhere(seen, surveys, isPlanned), false), wishes.base(), 0);
            List<String> moved = planned.stream()
                    .filter(end -> ends.of(end.node(), end.nic()).login())
                    .filter(end -> !has(seen, end).contains(end.address())
                            || !end.replaced().isEmpty())
                    .map(end -> end.node() + " " + end.nic())
                    .toList();
            if (moved.isEmpty()) {
                return planned;
            }
            moved.forEach(end -> leftOut.add(end + ": it carries the login, and would need another address; reach the"
                    + " node by another network"));
            without.addAll(moved);
        }
    }

    /** Subnets to which a route of a node leads, but for those of the cables themselves. */
    private static List<InterfaceAddress> elsewhere(
            Observations seen, Map<String, Survey> surveys, Predicate<String> isPlanned) {
        List<InterfaceAddress> subnets = new ArrayList<>();
        for (String node : seen.facts().keySet()) {
            Survey survey = surveys.get(node);
            if (survey != null) {
                survey.routes().stream()
                        .filter(route -> !isPlanned.test(node + " " + route.nic()))
                        .filter(route -> route.subnet().prefixLength() > 0)
                        .forEach(route -> subnets.add(route.subnet()));
            }
        }
        return subnets;
    }

    private static List<InterfaceAddress> has(Observations seen, PlannedEnd end) {
        return seen.node(end.node()).interfaceNamed(end.nic()).orElse(Nic.NONE).ownAddresses();
    }

    /** Keeps equal MTUs of two ends that are right already. */
    private static NicPlan nic(
            PlannedEnd end, List<PlannedEnd> all, Observations seen, Map<String, Survey> surveys, Wishes wishes) {
        PlannedEnd peer = all.stream()
                .filter(each -> each.node().equals(end.peer()) && each.nic().equals(end.peerNic()))
                .findFirst()
                .orElseThrow();
        int before = mtu(seen, end);
        boolean isKept = has(seen, end).contains(end.address())
                && has(seen, peer).contains(peer.address())
                && before == mtu(seen, peer);
        int most = Math.min(most(surveys, end, wishes), most(surveys, peer, wishes));
        NodeFacts facts = seen.node(end.node());
        boolean up = link(surveys, end).map(Survey.Link::up).orElse(true);
        return new NicPlan(
                end,
                has(seen, end),
                before,
                isKept ? before : most,
                up,
                facts.networks().managers().getOrDefault(end.nic(), NicManager.NOBODY));
    }

    private static int mtu(Observations seen, PlannedEnd end) {
        return seen.node(end.node()).interfaceNamed(end.nic()).orElse(Nic.NONE).mtu();
    }

    private static int most(Map<String, Survey> surveys, PlannedEnd end, Wishes wishes) {
        return link(surveys, end)
                .map(Survey.Link::mostMtu)
                .filter(most -> most > 0)
                .map(most -> Math.min(most, wishes.mtu()))
                .orElse(wishes.mtu());
    }

    private static Optional<Survey.Link> link(Map<String, Survey> surveys, PlannedEnd end) {
        return Optional.ofNullable(surveys.get(end.node()))
                .flatMap(survey -> Optional.ofNullable(survey.nics().get(end.nic())));
    }

    private static void refuseUnknownKeeper(NicPlan nic) {
        if (Keeper.of(nic.manager()).isEmpty()) {
            throw new CommandFailure(
                    "%s: %s keeps %s, and only its own tools change that; give it there what these give: %s"
                            .formatted(
                                    nic.end().node(),
                                    nic.manager().name().toLowerCase(Locale.ROOT),
                                    nic.end().nic(),
                                    String.join(
                                            " && ",
                                            nic.changes().stream()
                                                    .map(Change::command)
                                                    .toList())));
        }
    }

    /** The ends of a node that have to be changed. */
    List<NicPlan> changesOf(String node) {
        return ends.stream()
                .filter(nic -> nic.end().node().equals(node) && !nic.isRight())
                .toList();
    }

    boolean isRight() {
        return ends.stream().allMatch(NicPlan::isRight);
    }

    /** Number of cables, of which each has two ends. */
    int cables() {
        return ends.size() / 2;
    }
}
