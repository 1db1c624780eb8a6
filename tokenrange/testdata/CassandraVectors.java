import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.util.*;

import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.dht.IPartitioner;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.dht.RandomPartitioner;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.*;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * Writes tokens.json and replicas.json, the outcomes of Cassandra's own classes that the tests compare with.
 *
 * Run with the jars of a Cassandra 5.0 in lib/:
 *   javac -cp 'lib/*' -d vectors CassandraVectors.java
 *   java -cp 'vectors:lib/*' CassandraVectors .
 */
public class CassandraVectors
{
    static final Random random = new Random(20240229);
    static final Map<InetAddressAndPort, String[]> places = new HashMap<>();

    static class FixedSnitch extends AbstractEndpointSnitch
    {
        public String getRack(InetAddressAndPort node) { return places.get(node)[1]; }
        public String getDatacenter(InetAddressAndPort node) { return places.get(node)[0]; }
        public int compareEndpoints(InetAddressAndPort target, Replica a, Replica b) { return 0; }
    }

    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization(true, () -> {
            Config config = new Config();
            config.num_tokens = 1; // transient replicas are refused with more, whatever the ring has
            return config;
        });
        DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
        DatabaseDescriptor.setTransientReplicationEnabledUnsafe(true);
        try (PrintStream out = new PrintStream(args[0] + "/tokens.json", "UTF-8"))
        {
            tokens(out);
        }
        try (PrintStream out = new PrintStream(args[0] + "/replicas.json", "UTF-8"))
        {
            replicas(out);
        }
        System.exit(0);
    }

    static void tokens(PrintStream out)
    {
        List<String> lines = new ArrayList<>();
        lines.add(vector(new byte[0]));
        for (int i = 0; i < 160; i++)
        {
            byte[] key = new byte[i < 80 ? i : random.nextInt(200)];
            random.nextBytes(key);
            if (i == 0) // the key that hashes to the minimum, which is no token of a row
                key = ByteBufferUtil.getArray(Murmur3Partitioner.LongToken.keyForToken(Long.MIN_VALUE));
            lines.add(vector(key));
        }
        out.println("[\n" + String.join(",\n", lines) + "\n]");
    }

    static String vector(byte[] key)
    {
        StringBuilder hex = new StringBuilder();
        for (byte b : key)
            hex.append(String.format("%02x", b));
        return String.format("{\"key\":\"%s\",\"murmur3\":\"%s\",\"random\":\"%s\"}", hex,
                             token(Murmur3Partitioner.instance, key), token(RandomPartitioner.instance, key));
    }

    static String token(IPartitioner partitioner, byte[] key)
    {
        return partitioner.getToken(ByteBuffer.wrap(key)).getTokenValue().toString();
    }

    static void replicas(PrintStream out) throws Exception
    {
        List<String> cases = new ArrayList<>();
        for (int datacenters = 1; datacenters <= 3; datacenters++)
            for (int racks = 1; racks <= 4; racks++)
                for (int tokens : new int[]{ 1, 3 })
                    cases.add(ring(datacenters, racks, tokens));
        out.println("[\n" + String.join(",\n", cases) + "\n]");
    }

    static String ring(int datacenters, int racks, int tokensPerNode) throws Exception
    {
        places.clear();
        IEndpointSnitch snitch = new FixedSnitch();
        DatabaseDescriptor.setEndpointSnitch(snitch);
        TokenMetadata metadata = new TokenMetadata(snitch);
        List<String> nodes = new ArrayList<>();
        int count = datacenters * (1 + random.nextInt(5)) + random.nextInt(3);
        for (int i = 0; i < count; i++)
        {
            InetAddressAndPort address = InetAddressAndPort.getByName("10.0.0." + (i + 1));
            String[] place = { "dc" + (1 + i % datacenters), "rack" + (1 + random.nextInt(racks)) };
            places.put(address, place);
            List<Token> tokens = new ArrayList<>();
            List<String> texts = new ArrayList<>();
            for (int t = 0; t < tokensPerNode; t++)
            {
                // The first node has the minimum token, as in clusters that were set up by hand.
                long value = i == 0 && t == 0 ? Long.MIN_VALUE : random.nextLong();
                tokens.add(new Murmur3Partitioner.LongToken(value));
                texts.add("\"" + value + "\"");
            }
            metadata.updateNormalTokens(tokens, address);
            nodes.add(String.format("{\"id\":\"%s\",\"address\":\"%s\",\"datacenter\":\"%s\",\"rack\":\"%s\",\"tokens\":[%s]}",
                                    name(address), name(address), place[0], place[1], String.join(",", texts)));
        }

        List<Map<String, String>> keyspaces = new ArrayList<>();
        for (String factor : new String[]{ "1", "2", "3", "5", "3/1", "4/2" })
        {
            keyspaces.add(Map.of("class", "SimpleStrategy", "replication_factor", factor));
            Map<String, String> options = new TreeMap<>();
            options.put("class", "NetworkTopologyStrategy");
            for (int dc = 1; dc <= datacenters; dc++)
                options.put("dc" + dc, dc == 1 ? factor : String.valueOf(random.nextInt(4)));
            options.put("elsewhere", "2");
            keyspaces.add(options);
        }
        List<String> outcomes = new ArrayList<>();
        for (Map<String, String> keyspace : keyspaces)
            outcomes.add(outcome(keyspace, metadata, snitch));
        return "{\"nodes\":[" + String.join(",\n  ", nodes) + "],\n \"keyspaces\":[\n  " + String.join(",\n  ", outcomes) + "]}";
    }

    static String outcome(Map<String, String> keyspace, TokenMetadata metadata, IEndpointSnitch snitch)
    {
        Map<String, String> options = new TreeMap<>(keyspace);
        String name = options.remove("class");
        AbstractReplicationStrategy strategy = name.equals("SimpleStrategy")
                                               ? new SimpleStrategy("ks", metadata, snitch, options)
                                               : new NetworkTopologyStrategy("ks", metadata, snitch, options);
        List<String> replicas = new ArrayList<>();
        for (Token token : metadata.sortedTokens())
        {
            List<String> names = new ArrayList<>();
            for (Replica replica : strategy.calculateNaturalReplicas(token, metadata))
                if (replica.isFull())
                    names.add("\"" + name(replica.endpoint()) + "\"");
            replicas.add("\"" + token + "\":[" + String.join(",", names) + "]");
        }
        List<String> replication = new ArrayList<>();
        for (Map.Entry<String, String> e : new TreeMap<>(keyspace).entrySet())
            replication.add("\"" + e.getKey() + "\":\"" + e.getValue() + "\"");
        return "{\"replication\":{" + String.join(",", replication) + "},\"full\":{" + String.join(",", replicas) + "}}";
    }

    static String name(InetAddressAndPort address)
    {
        return address.getHostAddress(false);
    }
}
