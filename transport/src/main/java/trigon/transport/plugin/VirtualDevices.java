package trigon.transport.plugin;

import java.util.List;
import java.util.stream.IntStream;
import trigon.config.Settings;
import trigon.config.setting.ConfigException;
import trigon.routing.LocalLink;
import trigon.routing.hardware.NicGroups;
import trigon.routing.hardware.NicHardware;
import trigon.transport.path.Link;

/**
 * The devices that NCCL sees of a node: all nodes need as many, see docs/design/decisions/0039. So there is one, with
 * the same properties on all of them, unless the settings state a number, or NCCL is to have memory of GPUs.
 *
 * @param all by number
 */
record VirtualDevices(List<VirtualDevice> all) {

    VirtualDevices {
        all = List.copyOf(all);
    }

    /**
     * Looks what there is.
     *
     * @throws ConfigException if the node does not have what the settings say
     */
    static VirtualDevices of(PluginSetup setup, NodeResources node) {
        List<Link> links = node.links().all();
        String name = node.self().name();
        NicHardware hardware = setup.host().devices().hardware();
        List<VirtualDevice> devices = VirtualDevice.withGpuMemory(
                setup.config().value(Settings.GPU_MEMORY), setup.gpuMemoryObstacle(), name, links, hardware);
        if (!devices.isEmpty()) {
            return new VirtualDevices(devices);
        }
        List<LocalLink> local = links.stream().map(Link::local).toList();
        return new VirtualDevices(ofGroups(setup.config().value(Settings.DEVICES), name, local, hardware));
    }

    /** So many devices for the node's groups of NICs. */
    static List<VirtualDevice> ofGroups(int count, String node, List<LocalLink> links, NicHardware hardware) {
        if (count == 1) {
            return List.of(VirtualDevice.ofAllLinks(node));
        }
        List<List<LocalLink>> groups = NicGroups.of(links, hardware);
        if (count > groups.size()) {
            throw new ConfigException(("devices is %d, but the NICs of %s that are near to some of its GPUs make %d"
                            + " groups: %s; set devices to the number that each node has at least, or leave it out")
                    .formatted(count, node, groups.size(), groups));
        }
        return IntStream.range(0, count)
                .mapToObj(number -> VirtualDevice.ofGroup(node, number, share(groups, number, count), hardware))
                .toList();
    }

    /** The links of a device's groups; several where there are fewer devices. */
    private static List<LocalLink> share(List<List<LocalLink>> groups, int number, int count) {
        return groups.subList(number * groups.size() / count, (number + 1) * groups.size() / count).stream()
                .flatMap(List::stream)
                .toList();
    }

    /**
     * The device of that number.
     *
     * @throws IllegalArgumentException if there is none
     */
    VirtualDevice get(int device) {
        if (device < 0 || device >= all.size()) {
            throw new IllegalArgumentException(
                    "there is no device %d; Trigon's are 0 to %d".formatted(device, all.size() - 1));
        }
        return all.get(device);
    }
}
