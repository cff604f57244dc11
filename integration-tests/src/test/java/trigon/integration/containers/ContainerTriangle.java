package trigon.integration.containers;

import static java.util.Objects.requireNonNull;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.InternalServerErrorException;
import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.ContainerNetwork;
import com.github.dockerjava.api.model.Network.Ipam;
import com.github.dockerjava.api.model.Volume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import trigon.testsupport.Await;

/**
 * Three containers on three networks, each container on two of them. They see the distribution, read-only, and one
 * directory of the test, where jobs have their rendezvous and their logs; nodes that share no cable share nothing else.
 */
final class ContainerTriangle implements AutoCloseable {

    /** Where the containers have the distribution, and the test's directory. */
    static final String DISTRIBUTION = "/opt/trigon";

    static final String DIRECTORY = "/test";

    private static final Duration PAUSE_LIMIT = Duration.ofSeconds(60);

    private final DockerClient client;
    private final Path directory;
    private final Map<Cable, Network> networks = new EnumMap<>(Cable.class);
    private final Map<Node, NodeContainer> containers = new EnumMap<>(Node.class);

    private ContainerTriangle(DockerClient client, Path directory) {
        this.client = client;
        this.directory = directory;
    }

    /** Returns once all containers run; close it to remove them. */
    static ContainerTriangle start(DockerClient client, Path distribution, Path directory) {
        ContainerTriangle triangle = new ContainerTriangle(client, directory);
        try {
            for (Cable cable : Cable.values()) {
                triangle.networks.put(cable, create(cable));
            }
            for (Node node : Node.values()) {
                triangle.containers.put(node, triangle.new NodeContainer(node, distribution));
            }
            triangle.containers.values().parallelStream().forEach(NodeContainer::start);
            return triangle;
        } catch (RuntimeException | Error e) {
            triangle.close();
            throw e;
        }
    }

    private static Network create(Cable cable) {
        return Network.builder()
                .createNetworkCmdModifier(command -> command.withLabels(ContainerEngine.LABELS)
                        .withInternal(true) // no gateway: what the cable does not reach is not reached
                        .withIpam(new Ipam()
                                .withConfig(new Ipam.Config()
                                        .withSubnet(cable.subnet())
                                        .withGateway(cable.bridgeAddress()))))
                .build();
    }

    private final class NodeContainer extends GenericContainer<NodeContainer> {

        private final Node node;

        NodeContainer(Node node, Path distribution) {
            super(ContainerEngine.IMAGE);
            this.node = node;
            Cable first = node.cables().getFirst();
            withImagePullPolicy(image -> false);
            withNetwork(requireNonNull(networks.get(first)));
            // Testcontainers' own way to mount tries it first, in an image that it pulls
            List<Bind> binds = List.of(
                    new Bind(distribution.toString(), new Volume(DISTRIBUTION), AccessMode.ro),
                    new Bind(directory.toString(), new Volume(DIRECTORY), AccessMode.rw));
            withCreateContainerCmdModifier(command -> command.withIpv4Address(first.address(node))
                    .withHostConfig(requireNonNull(command.getHostConfig()).withBinds(binds))
                    .withHostName(node.hostName())
                    .withStopSignal(
                            "SIGKILL") // the first process of a container is spared any other that it does not handle
                    .withUser(owner(directory))
                    .withEntrypoint("/bin/sleep", "infinity"));
            withLabels(ContainerEngine.LABELS);
            withTmpFs(Map.of("/tmp", "rw"));
        }

        @Override
        protected void containerIsCreated(String id) {
            // before the start: the node has both its links from its first instruction on
            plug(id, node.cables().getLast(), node);
        }
    }

    /** What the containers write belongs to who runs the test, who then can delete it. */
    private static String owner(Path file) {
        try {
            return Files.getAttribute(file, "unix:uid") + ":" + Files.getAttribute(file, "unix:gid");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts the program that plays NCCL on all nodes, with these arguments. */
    ContainerJob run(String name, String... arguments) {
        return run(List.of(), name, arguments);
    }

    /** The same with more environment variables, {@code NAME=value}. */
    ContainerJob run(List<String> environment, String name, String... arguments) {
        return ContainerJob.start(client, this::id, directory.resolve(name), environment, arguments);
    }

    /** The same; the all-reduces go on until {@link ContainerJob#end}. */
    ContainerJob runEndless(List<String> environment, String name, String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--iterations", "1000000"));
        all.addAll(List.of("--until", DIRECTORY + "/" + name + "/" + ContainerJob.END));
        return run(environment, name, all.toArray(String[]::new));
    }

    /** Pulls the cable out of this node. */
    void cut(Cable cable, Node node) {
        client.disconnectFromNetworkCmd()
                .withContainerId(id(node))
                .withNetworkId(network(cable))
                .exec();
    }

    /** Puts it in again; the node has the same address as before. */
    void heal(Cable cable, Node node) {
        plug(id(node), cable, node);
    }

    private void plug(String container, Cable cable, Node node) {
        client.connectToNetworkCmd()
                .withContainerId(container)
                .withNetworkId(network(cable))
                .withContainerNetwork(new ContainerNetwork()
                        .withIpamConfig(new ContainerNetwork.Ipam().withIpv4Address(cable.address(node))))
                .exec();
    }

    /**
     * Stops all its processes where they are; its kernel still acknowledges what comes. Where control groups are of
     * version 1, runc gives up and lets them all go on if one is slow to freeze, as on a busy machine, and leaves it to
     * its caller to try again (runc, libcontainer/cgroups/fs/freezer.go).
     */
    void pause(Node node) {
        Await.until(() -> "control groups have frozen " + node, PAUSE_LIMIT, () -> {
            try {
                client.pauseContainerCmd(id(node)).exec();
                return true;
            } catch (InternalServerErrorException _) {
                return false;
            }
        });
    }

    void resume(Node node) {
        client.unpauseContainerCmd(id(node)).exec();
    }

    /** Ends all its processes, without a chance to say good-bye. */
    void kill(Node node) {
        client.killContainerCmd(id(node)).exec();
    }

    /** Starts a container that was killed. */
    void restart(Node node) {
        client.startContainerCmd(id(node)).exec();
    }

    /** How many bytes the node has sent over that cable so far, by the count of its interface there. */
    long sentBytes(Node node, Cable cable) {
        return Long.parseLong(ofInterface(node, cable, "read sent <$i/statistics/tx_bytes && echo $sent"));
    }

    /** What the node calls its interface there. */
    String interfaceName(Node node, Cable cable) {
        return ofInterface(node, cable, "echo ${i##*/}");
    }

    /** What this shell command prints in the node, in which {@code $i} is the interface's folder in sysfs. */
    private String ofInterface(Node node, Cable cable, String command) {
        String network = network(cable);
        String mac = container(node).getCurrentContainerInfo().getNetworkSettings().getNetworks().values().stream()
                .filter(attachment -> network.equals(attachment.getNetworkID()))
                .map(ContainerNetwork::getMacAddress)
                .findFirst()
                .orElseThrow();
        try {
            // the engine's order of joining is not the order of the interfaces' names
            return container(node)
                    .execInContainer("/bin/sh", "-c", """
                            for i in /sys/class/net/*; do
                              read mac <$i/address
                              [ $mac != %s ] || { %s; }
                            done
                            """.formatted(mac, command))
                    .getStdout()
                    .strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Its first process, as this machine knows it. */
    long processId(Node node) {
        return requireNonNull(
                container(node).getCurrentContainerInfo().getState().getPidLong());
    }

    private NodeContainer container(Node node) {
        return requireNonNull(containers.get(node));
    }

    /** By which the engine knows its container. */
    String id(Node node) {
        return container(node).getContainerId();
    }

    private String network(Cable cable) {
        return requireNonNull(networks.get(cable)).getId();
    }

    @Override
    public void close() {
        containers.values().parallelStream().forEach(NodeContainer::stop);
        networks.values().forEach(Network::close);
    }
}
