package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeMessage.Answer;

/** Every node connects to every other at the same time, as NCCL's channels come up. */
class AllToAllTest {

    private static final int NODES = 8;

    /** A node with the one control thread on which a transport makes its queue pairs. */
    private record Rank(int number, Node node, ExecutorService control, List<CompletableFuture<Established>> accepted)
            implements AutoCloseable {

        static Rank of(int number) {
            return new Rank(
                    number,
                    new Node("127.0.1." + (number + 1), Node.LONG),
                    Executors.newSingleThreadExecutor(),
                    Collections.synchronizedList(new ArrayList<>()));
        }

        ConnectionId listen() {
            ConnectionId connection = ConnectionId.random();
            node.listeners().register(connection, Node.secretOf(connection), this::answer);
            return connection;
        }

        private CompletionStage<Answer> answer(IncomingOffer offer) {
            accepted.add(offer.result());
            return CompletableFuture.supplyAsync(node::answer, control);
        }

        CompletableFuture<Established> connect(Node to, ConnectionId connection) {
            OutgoingOffer outgoing = node.connect(to.listeningAt(), node.offer(connection));
            return outgoing.answer().thenComposeAsync(_ -> outgoing.sendReady(1), control);
        }

        @Override
        public void close() {
            node.close();
            control.close();
        }
    }

    @Test
    void crossingConnectsNeverDeadlock() throws Exception {
        long seed = new Random().nextLong();
        List<Rank> ranks = new ArrayList<>();
        try {
            for (int i = 0; i < NODES; i++) {
                ranks.add(Rank.of(i));
            }
            for (int round = 0; round < 5; round++) {
                connectAll(ranks, seed + round);
            }
        } finally {
            ranks.forEach(Rank::close);
        }
    }

    private static void connectAll(List<Rank> ranks, long seed) throws Exception {
        Map<List<Integer>, ConnectionId> handles = new HashMap<>();
        Map<List<Integer>, CompletableFuture<Established>> links = new ConcurrentHashMap<>();
        for (Rank from : ranks) {
            for (Rank to : ranks) {
                handles.put(List.of(from.number(), to.number()), to.listen());
            }
            from.accepted().clear();
        }

        try (ExecutorService threads = Executors.newFixedThreadPool(NODES)) {
            for (Rank from : ranks) {
                List<Rank> others = new ArrayList<>(ranks);
                Collections.shuffle(others, new Random(seed * NODES + from.number()));
                threads.execute(() -> others.forEach(to -> {
                    List<Integer> pair = List.of(from.number(), to.number());
                    links.put(pair, from.connect(to.node(), handles.getOrDefault(pair, ConnectionId.random())));
                }));
            }
        }

        assertThat(links).as("seed %d", seed).hasSize(NODES * NODES);
        for (Map.Entry<List<Integer>, CompletableFuture<Established>> link : links.entrySet()) {
            Established established = link.getValue().get(60, TimeUnit.SECONDS);
            assertThat(established.offer().connection()).isEqualTo(handles.get(link.getKey()));
        }
        for (Rank rank : ranks) {
            assertThat(rank.accepted()).hasSize(NODES);
            for (CompletableFuture<Established> accepted : List.copyOf(rank.accepted())) {
                assertThat(accepted.get(60, TimeUnit.SECONDS)).isNotNull();
            }
        }
    }
}
