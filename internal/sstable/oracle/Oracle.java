import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.ClusteringPrefix;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.LivenessInfo;
import org.apache.cassandra.db.SystemKeyspace;
import org.apache.cassandra.db.commitlog.CommitLog;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.RangeTombstoneBoundMarker;
import org.apache.cassandra.db.rows.RangeTombstoneBoundaryMarker;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.ISSTableScanner;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.util.File;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.schema.TableMetadataRef;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.tools.Util;
import org.apache.cassandra.transport.ProtocolVersion;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * The storage engine of Cassandra in one process, without network: it executes CQL, flushes, compacts, and tells what
 * its own readers see. oracle.go has the other side of the conversation: a line for a request, and "OK" with the number
 * of lines of the answer, or "ERR" with the reason.
 */
public class Oracle
{
    private static final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private static QueryState state; // made after the start, for it loads the schema

    public static void main(String[] args) throws Exception
    {
        System.setOut(System.err); // what the server prints is no answer
        start();
        answer(List.of());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; )
        {
            List<String> request = new ArrayList<>();
            for (String word : line.split(" "))
                request.add(new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8));
            try
            {
                answer(execute(request));
            }
            catch (Throwable t)
            {
                t.printStackTrace();
                out.println("ERR " + encode(t.toString()));
                out.flush();
            }
        }
        System.exit(0);
    }

    private static String encode(String s)
    {
        return Base64.getEncoder().encodeToString(s.getBytes(StandardCharsets.UTF_8));
    }

    private static void answer(List<String> lines)
    {
        out.println("OK " + lines.size());
        for (String line : lines)
            out.println(line);
        out.flush();
    }

    private static void start() throws Exception
    {
        DatabaseDescriptor.daemonInitialization();
        DatabaseDescriptor.createAllDirectories();
        CommitLog.instance.start();
        SystemKeyspace.persistLocalMetadata();
        Schema.instance.loadFromDisk();
        Keyspace.setInitialized();
        StorageService.instance.populateTokenMetadata();
        CompactionManager.instance.disableAutoCompaction();
        state = new QueryState(ClientState.forInternalCalls());
    }

    private static List<String> execute(List<String> r) throws Exception
    {
        switch (r.get(0))
        {
            case "CQL":
                return cql(r.get(1), Long.parseLong(r.get(2)));
            case "FLUSH":
                store(r.get(1), r.get(2)).forceBlockingFlush(ColumnFamilyStore.FlushReason.USER_FORCED);
                return List.of();
            case "COMPACT":
                store(r.get(1), r.get(2)).forceMajorCompaction();
                return List.of();
            case "SNAPSHOT":
                return snapshot(store(r.get(1), r.get(2)), r.get(3));
            case "DUMP":
                return dump(r.get(1));
            default:
                throw new IllegalArgumentException(r.get(0));
        }
    }

    private static ColumnFamilyStore store(String keyspace, String table)
    {
        return Keyspace.open(keyspace).getColumnFamilyStore(table);
    }

    /** Executes a statement at a time in seconds; of the rows it answers the names of the columns and the values. */
    private static List<String> cql(String query, long now)
    {
        CQLStatement statement = QueryProcessor.parseStatement(query, state.getClientState());
        statement.authorize(state.getClientState());
        statement.validate(state.getClientState());
        QueryOptions options = QueryOptions.create(ConsistencyLevel.ONE, List.of(), false, -1, null, null,
                                                   ProtocolVersion.CURRENT, null, Long.MIN_VALUE, now);
        ResultMessage message = statement.executeLocally(state, options);
        List<String> lines = new ArrayList<>();
        if (!(message instanceof ResultMessage.Rows))
            return lines;
        ResultMessage.Rows rows = (ResultMessage.Rows) message;
        StringBuilder b = new StringBuilder();
        for (ColumnSpecification c : rows.result.metadata.requestNames())
            b.append(hex(ByteBufferUtil.bytes(c.name.toString()))).append(' ');
        lines.add(b.toString());
        for (List<ByteBuffer> row : rows.result.rows)
        {
            b.setLength(0);
            for (ByteBuffer v : row)
                b.append(hex(v)).append(' ');
            lines.add(b.toString());
        }
        return lines;
    }

    private static List<String> snapshot(ColumnFamilyStore store, String tag) throws Exception
    {
        store.snapshotWithoutMemtable(tag);
        List<String> lines = new ArrayList<>();
        for (java.io.File f : store.getDirectories().getCFDirectories().stream().map(File::toJavaIOFile).toList())
            lines.add(f.getPath() + "/snapshots/" + tag);
        return lines;
    }

    private static SSTableReader open(String dataFile) throws Exception
    {
        Descriptor d = Descriptor.fromFileWithComponent(new File(dataFile), false).left;
        TableMetadata metadata = Util.metadataFromSSTable(d);
        return SSTableReader.openNoValidation(null, d, TableMetadataRef.forOfflineTools(metadata));
    }

    /** Everything that an SSTable holds, as Cassandra's reader sees it before any merge. */
    private static List<String> dump(String dataFile) throws Exception
    {
        List<String> lines = new ArrayList<>();
        SSTableReader reader = open(dataFile);
        try (ISSTableScanner scanner = reader.getScanner())
        {
            while (scanner.hasNext())
            {
                try (UnfilteredRowIterator p = scanner.next())
                {
                    lines.add("partition " + hex(p.partitionKey().getKey()) + ' ' + p.partitionKey().getToken() + deletion(p.partitionLevelDeletion()));
                    if (!p.staticRow().isEmpty())
                        row(lines, "static", p.staticRow());
                    while (p.hasNext())
                    {
                        Unfiltered u = p.next();
                        if (u.isRow())
                            row(lines, "row" + prefix(u.clustering()), (Row) u);
                        else if (u instanceof RangeTombstoneBoundMarker)
                            lines.add("marker " + u.clustering().kind().ordinal() + prefix(u.clustering())
                                      + deletion(((RangeTombstoneBoundMarker) u).deletionTime()));
                        else
                        {
                            RangeTombstoneBoundaryMarker m = (RangeTombstoneBoundaryMarker) u;
                            lines.add("marker " + u.clustering().kind().ordinal() + prefix(u.clustering())
                                      + deletion(m.endDeletionTime()) + deletion(m.startDeletionTime()));
                        }
                    }
                }
            }
        }
        return lines;
    }

    private static void row(List<String> lines, String head, Row row)
    {
        LivenessInfo l = row.primaryKeyLivenessInfo();
        String liveness = l.isEmpty() ? "" : " live " + l.timestamp() + ' ' + l.ttl() + ' ' + time(l.localExpirationTime());
        lines.add(head + liveness + deletion(row.deletion().time()) + (row.deletion().isShadowable() ? " shadowable" : ""));
        for (ColumnData data : row)
        {
            String name = hex(data.column().name.bytes);
            if (data.column().isSimple())
            {
                lines.add(cell(name, (Cell<?>) data));
                continue;
            }
            ComplexColumnData complex = (ComplexColumnData) data;
            String deletion = deletion(complex.complexDeletion());
            if (!deletion.isEmpty())
                lines.add("complex " + name + deletion);
            for (Cell<?> c : complex)
                lines.add(cell(name, c));
        }
    }

    private static String cell(String name, Cell<?> c)
    {
        return "cell " + name + ' ' + c.timestamp() + ' ' + c.ttl() + ' ' + time(c.localDeletionTime())
               + ' ' + (c.path() == null ? "-" : hex(c.path().get(0))) + ' ' + hex(c.buffer());
    }

    private static String deletion(DeletionTime d)
    {
        // A deletion at the minimal time deletes nothing, whatever else it says.
        if (d.markedForDeleteAt() == Long.MIN_VALUE)
            return "";
        return " deleted " + d.markedForDeleteAt() + ' ' + time(d.localDeletionTime());
    }

    private static String time(long t)
    {
        return t == Cell.NO_DELETION_TIME ? "-" : Long.toString(t);
    }

    private static String prefix(ClusteringPrefix<?> p)
    {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i < p.size(); i++)
            b.append(' ').append(hex(p.bufferAt(i)));
        return b.toString();
    }

    private static String hex(ByteBuffer b)
    {
        return b == null ? "null" : "0x" + ByteBufferUtil.bytesToHex(b);
    }
}
