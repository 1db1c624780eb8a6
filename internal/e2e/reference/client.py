"""The other client: reads tables with the Python driver, row by row, without knowing of token ranges."""

import ipaddress
from decimal import Decimal

from cassandra import ConsistencyLevel, cqltypes, protocol
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.marshal import int64_unpack
from cassandra.policies import WhiteListRoundRobinPolicy
from cassandra.query import SimpleStatement, tuple_factory

import canonical
from canonical import Type

# The driver makes datetimes of timestamps, which end at the year 9999 and cost an exact millisecond here and there: the raw number instead.
# Sets and lists stay as the server sends them: the driver's own set drops and sorts.
cqltypes.DateType.deserialize = staticmethod(lambda byts, protocol_version: int64_unpack(byts))
cqltypes.SetType.adapter = list
cqltypes.ListType.adapter = list


class Client:
    """A session."""

    def __init__(self, hosts, port, user=None, password=None):
        auth = PlainTextAuthProvider(user, password) if user else None
        profile = ExecutionProfile(
            load_balancing_policy=WhiteListRoundRobinPolicy(hosts),
            consistency_level=ConsistencyLevel.LOCAL_QUORUM,
            row_factory=tuple_factory,
            request_timeout=60,
        )
        self.cluster = Cluster(
            hosts, port=port, auth_provider=auth, protocol_version=5, execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            connect_timeout=30, schema_metadata_enabled=False, token_metadata_enabled=False,
        )
        self.session = self.cluster.connect()
        # The pure Python decoder, which uses the changed types above.
        self.session.client_protocol_handler = protocol._ProtocolHandler

    def close(self):
        self.cluster.shutdown()

    def select(self, statement, fetch_size=1000):
        """Names, types and rows (lists of canonical cells) of a statement, in the order that the server sends."""
        result = self.session.execute(SimpleStatement(statement, fetch_size=fetch_size))
        names, types = result.column_names, [type_of(t) for t in result.column_types]
        rows = ([cell(v, t) for v, t in zip(r, types)] for r in result)
        return names, types, rows


def type_of(t):
    """The type tree of one of the driver's type classes."""
    if issubclass(t, (cqltypes.FrozenType, cqltypes.ReversedType)):
        return type_of(t.subtypes[0])
    if issubclass(t, cqltypes.UserType):
        return Type("udt", map(type_of, t.subtypes), t.fieldnames)
    if issubclass(t, cqltypes.TupleType):
        return Type("tuple", map(type_of, t.subtypes))
    if issubclass(t, cqltypes.VectorType):
        return Type("vector", [type_of(t.subtype)], size=t.vector_size)
    for base, kind in ((cqltypes.ListType, "list"), (cqltypes.SetType, "set"), (cqltypes.MapType, "map")):
        if issubclass(t, base):
            return Type(kind, map(type_of, t.subtypes))
    name = {"varchar": "text"}.get(t.typename, t.typename)
    if name not in canonical.SIMPLE:
        raise ValueError(f"the driver knows no type {t}")
    return Type(name)


def cell(v, t):
    """The canonical cell of a value from the driver."""
    if v is None:
        return None
    kind = t.kind
    if kind in canonical.TEXTS:
        return canonical.text(v)
    if kind in canonical.WHOLE:
        return canonical.whole(v, kind)
    if kind in ("float", "double"):
        return canonical.float_bits(v, kind)
    if kind == "boolean":
        return bool(v)
    if kind == "varint":
        return str(v)
    if kind == "decimal":
        return canonical.decimal_text(Decimal(v))
    if kind == "blob":
        return canonical.blob_text(v)
    if kind == "timestamp":
        return int(v)
    if kind == "date":
        return v.days_from_epoch
    if kind == "time":
        return v.nanosecond_time
    if kind in ("uuid", "timeuuid"):
        return canonical.uuid_text(v)
    if kind == "inet":
        return str(ipaddress.ip_address(v))
    if kind == "duration":
        return [v.months, v.days, v.nanoseconds]
    if kind in ("list", "vector"):
        return [cell(e, t.elements[0]) for e in v]
    if kind == "set":
        return canonical.set_of(cell(e, t.elements[0]) for e in v)
    if kind == "map":
        return canonical.map_of((cell(k, t.elements[0]), cell(e, t.elements[1])) for k, e in v.items())
    if kind in ("tuple", "udt"):
        cells = [cell(e, f) for e, f in zip(v, t.elements)]
        return cells + [None] * (len(t.elements) - len(cells))
    raise ValueError(f"no canonical form of {kind}")
